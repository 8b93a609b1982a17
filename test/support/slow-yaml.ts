import * as yaml from 'yaml';
import { offsetOf } from '../../src/pilot-discovery/istio/documents/field-offset.ts';
import { parseYaml, valueOfYaml } from '../../src/shared/text/parse-yaml.ts';
import type { QuickYaml } from '../../src/shared/text/quick-yaml.ts';

/**
 * Returns the content of a text with one document, as the package `yaml` reads it. Undefined if the
 * text has an error, or not exactly one document.
 */
export function slowYaml(text: string): QuickYaml | undefined {
  const parsed = parseYaml(yaml, text, { uniqueKeys: true });
  if (!parsed.ok || parsed.documents.length !== 1) return undefined;
  const [document] = parsed.documents;
  if (document === undefined || document.errors.length > 0) return undefined;
  const content = valueOfYaml(document);
  if (!content.ok) return undefined;
  const { value } = content;
  const { contents } = document;
  if (value === null || contents === null) return { value, line: 1, lineOf: () => 1 };
  const lineAt = (offset: number) => parsed.lines.linePos(offset).line;
  const [begin] = contents.range;
  return {
    value,
    line: lineAt(begin),
    lineOf: (field) => lineAt(offsetOf(contents, field) ?? begin),
  };
}

const mostFields = 200;

/** Returns the paths of all fields of a value, and some that it does not have. */
function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [path, `${path}.none`, `${path}[0]`];
  const steps = Array.isArray(value)
    ? value.map((inner: unknown, index) => [`${path}[${index}]`, inner] as const)
    : Object.entries(value).map(([name, inner]) => [`${path}.${name}`, inner] as const);
  return [path, ...steps.flatMap(([step, inner]) => fieldsOf(inner, step))];
}

/**
 * Returns a value with the lines of its first fields. It has only the first ones because the
 * package `yaml` searches a whole map for each.
 */
export function withLines({ value, line, lineOf }: QuickYaml): unknown {
  const lines = fieldsOf(value)
    .slice(0, mostFields)
    .map((field) => [field, lineOf(field.replace(/^\./, ''))]);
  return { value, line, lines };
}
