import type { Json } from './json.ts';

export type RenderedTemplate = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** An action with its trim markers, or what opens one that is not closed. */
const action = /\{\{(?:(?<left>-\s+)?(?:(?<comment>\/\*.*?\*\/)|(?<code>.*?))(?<right>\s+-)?\}\})?/gs;
const name = String.raw`\.[\p{L}_][\p{L}\p{N}_.]*`;
const known = new RegExp(String.raw`^(?:(?<call>toJSON)\s+)?(?<path>${name})(?:\s*\|\s*(?<pipe>toJSON))?$`, 'u');

/**
 * A bootstrap template of Istio's, filled in: `{{ .name }}`, `{{ .config.ProxyAdminPort }}`, `{{ toJSON .name }}`, `{{ .name | toJSON }}`, comments and
 * trim markers. Any other action of Go's templates is refused, with its line, and so is a variable that nobody knows. Pure.
 *
 * A variable without a value is an empty text. Values go in as they are, without quotes or escapes, as with the Go agent.
 */
export function renderTemplate(template: string, variables: ReadonlyMap<string, Json>): RenderedTemplate {
  let text = '';
  let end = 0;
  let trims = false;
  const literal = (piece: string, next: boolean) => {
    const begun = trims ? piece.trimStart() : piece;
    text += next ? begun.trimEnd() : begun;
  };
  for (const { 0: whole, index, groups = {} } of template.matchAll(action)) {
    const { left, comment, code, right } = groups;
    literal(template.slice(end, index), left !== undefined);
    trims = right !== undefined;
    end = index + whole.length;
    if (comment !== undefined) continue;
    const value = code === undefined ? { flaw: '{{ is not closed' } : evaluate(code.trim(), variables);
    if (value.flaw !== undefined) return { ok: false, reason: `line ${template.slice(0, index).split('\n').length}: ${value.flaw}` };
    text += value.text;
  }
  literal(template.slice(end), false);
  return { ok: true, text };
}

type Evaluated = { readonly text: string; readonly flaw?: undefined } | { readonly flaw: string };

function evaluate(code: string, variables: ReadonlyMap<string, Json>): Evaluated {
  const { path, call, pipe } = known.exec(code)?.groups ?? {};
  if (path === undefined || (call !== undefined && pipe !== undefined)) {
    const word = /\|\s*(?!toJSON\b)([^\s|]+)/.exec(code)?.[1] ?? code.split(/\s/, 1)[0] ?? '';
    return { flaw: `{{ ${word} }} is not supported: only variables and toJSON are` };
  }
  const [first = '', ...members] = path.slice(1).split('.');
  let value = variables.get(first);
  let isKnown = variables.has(first);
  for (const member of members.map((text) => text.charAt(0).toLowerCase() + text.slice(1))) {
    if (value === undefined) break; // what has no value has no members to be known
    isKnown = typeof value === 'object' && value !== null && Object.hasOwn(value, member);
    value = isKnown ? (value as Readonly<Record<string, Json>>)[member] : undefined;
    if (!isKnown) break;
  }
  if (!isKnown) return { flaw: `the variable ${path} is not known` };
  if (call !== undefined || pipe !== undefined) return { text: JSON.stringify(value ?? {}) };
  if (!Array.isArray(value))
    return typeof value === 'object' && value !== null
      ? { flaw: `the variable ${path} has members: toJSON writes it` }
      : { text: String(value ?? '') };
  return { text: `[${value.join(' ')}]` };
}
