import * as yaml from 'yaml';
import { parseYaml, valueOfYaml } from '../../src/shared/text/parse-yaml.ts';
import type { QuickYaml } from '../../src/shared/text/quick-yaml.ts';

/** What the package `yaml` says of a text with one document; undefined if something is wrong. */
export function slowYaml(text: string): QuickYaml | undefined {
  const parsed = parseYaml(yaml, text, { uniqueKeys: true });
  if (!parsed.ok || parsed.documents.length !== 1) return undefined;
  const [document] = parsed.documents;
  if (document === undefined || document.errors.length > 0) return undefined;
  const content = valueOfYaml(() => document.toJS() as unknown);
  if (!content.ok) return undefined;
  const { value } = content;
  return {
    value,
    line: value === null ? 1 : parsed.lines.linePos(document.contents?.range[0] ?? 0).line,
  };
}
