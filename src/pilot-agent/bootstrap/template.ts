// Why: docs/decisions/084-small-features-stay.md
import type { Json } from './proto-json.ts';
import { ownMember } from '../../shared/text/own-member.ts';

export type RenderedTemplate =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

const name = String.raw`\.[\p{L}_][\p{L}\p{N}_.]*`;
const supportedAction = new RegExp(
  String.raw`^(?:(?<call>toJSON)\s+)?(?<path>${name})(?:\s*\|\s*(?<pipe>toJSON))?$`,
  'u',
);

/** A comment may contain `}}`. */
const commentBegins = /(?:-\s+)?\/\*/y;
/** In characters. No bootstrap is as large. */
const longest = 4 << 20;

/**
 * Renders a bootstrap template of Istio: `{{ .name }}`, `{{ .config.ProxyAdminPort }}`,
 * `{{ toJSON .name }}`, `{{ .name | toJSON }}`, comments and trim markers. Refuses any other action
 * of Go's templates, and an unknown variable; the reason names the line. Pure.
 *
 * A variable without a value becomes an empty text. Values are inserted as they are, without quotes
 * or escapes, as in the Go agent.
 */
export function renderTemplate(
  template: string,
  variables: ReadonlyMap<string, Json>,
): RenderedTemplate {
  let text = '';
  let end = 0;
  let trims = false;
  const literal = (piece: string, next: 'trims' | 'keeps') => {
    const begun = trims ? piece.trimStart() : piece;
    text += next === 'trims' ? begun.trimEnd() : begun;
  };
  for (let begin = template.indexOf('{{'); begin >= 0; begin = template.indexOf('{{', end)) {
    const { left, code, right, after } = actionAt(template, begin);
    literal(template.slice(end, begin), left ? 'trims' : 'keeps');
    trims = right;
    end = after;
    if (code?.startsWith('/*') === true && code.indexOf('*/', 2) === code.length - 2) continue;
    const value = code === undefined ? { flaw: '{{ is not closed' } : evaluate(code, variables);
    if (value.flaw !== undefined)
      return {
        ok: false,
        reason: `line ${template.slice(0, begin).split('\n').length}: ${value.flaw}`,
      };
    text += value.text;
    if (text.length > longest)
      return {
        ok: false,
        reason: `it makes a text of more than ${longest} characters, which is the limit`,
      };
  }
  literal(template.slice(end), 'keeps');
  return { ok: true, text };
}

/**
 * Returns the action whose `{{` is at `begin`, with its trim markers; without code if it is not
 * closed.
 */
function actionAt(template: string, begin: number) {
  const start = begin + 2;
  commentBegins.lastIndex = start;
  const inside = commentBegins.test(template)
    ? template.indexOf('*/', commentBegins.lastIndex)
    : start;
  const close = inside < 0 ? -1 : template.indexOf('}}', inside);
  const whole = close < 0 ? '' : template.slice(start, close);
  const [left, right] = [/^-\s/.test(whole), /\s-$/.test(whole)];
  return {
    left,
    right,
    after: close + 2,
    code: close < 0 ? undefined : whole.slice(left ? 1 : 0, right ? -1 : undefined).trim(),
  };
}

type Evaluated = { readonly text: string; readonly flaw?: undefined } | { readonly flaw: string };

function evaluate(code: string, variables: ReadonlyMap<string, Json>): Evaluated {
  const { path, call, pipe } = supportedAction.exec(code)?.groups ?? {};
  if (path === undefined || (call !== undefined && pipe !== undefined)) {
    const word = /\|\s*(?!toJSON\b)([^\s|]+)/.exec(code)?.[1] ?? code.split(/\s/, 1)[0] ?? '';
    return { flaw: `{{ ${word} }} is not supported: only variables and toJSON are` };
  }
  const [first = '', ...members] = path.slice(1).split('.');
  let value = variables.get(first);
  let isKnown = variables.has(first);
  for (const member of members.map((text) => text.charAt(0).toLowerCase() + text.slice(1))) {
    if (value === undefined) break; // members of a missing value cannot be checked
    isKnown = typeof value === 'object' && value !== null && Object.hasOwn(value, member);
    value = isKnown ? ownMember(value as Readonly<Record<string, Json>>, member) : undefined;
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
