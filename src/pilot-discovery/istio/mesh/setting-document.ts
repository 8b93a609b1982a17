import * as yaml from 'yaml';
import { parseYaml, valueOfYaml } from '../../../shared/text/parse-yaml.ts';

type Node = { readonly range?: readonly [number, ...unknown[]] | null } | undefined;

/**
 * Returns the value of a text, undefined if the text as a whole is wrong; and the lines of fields.
 * The line of a field that is missing is that of the object around it.
 */
export function documentOf(
  content: string,
  report: (line: number, reason: string) => void,
): { readonly value: unknown; readonly lineOf: (field: string) => number } {
  const parsed = parseYaml(yaml, content, {});
  if (!parsed.ok) report(parsed.line, parsed.reason);
  const [document, second] = parsed.ok ? parsed.documents : [];
  const lineAt = (offset: number) =>
    parsed.ok ? Math.max(parsed.lines.linePos(offset).line, 1) : 1;
  const [error] = document?.errors ?? [];
  if (error !== undefined)
    report(lineAt(error.pos[0]), `it is no YAML: ${error.message.split('\n')[0] ?? ''}`);
  else if (second !== undefined) report(lineAt(second.range[0]), 'it has more than one document');
  const isSound = document !== undefined && error === undefined && second === undefined;
  const read = isSound ? valueOfYaml(() => document.toJS() as unknown) : undefined;
  if (document !== undefined && read?.ok === false)
    report(lineAt(firstAlias(document)), read.reason);
  const lineOf = (field: string): number => {
    const steps = field
      .split(/[.[\]]+/)
      .filter((step) => step !== '')
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const offsets = steps.map((_, index) => {
      const node = document?.getIn(steps.slice(0, steps.length - index), true) as Node;
      return node?.range?.[0];
    });
    return lineAt(offsets.find((offset) => offset !== undefined) ?? 0);
  };
  return { value: read?.ok === true ? read.value : undefined, lineOf };
}

function firstAlias(document: yaml.Document.Parsed): number {
  const offsets: number[] = [];
  yaml.visit(document, {
    Alias: (_, { range }) => {
      offsets.push(range?.[0] ?? 0);
      return yaml.visit.BREAK;
    },
  });
  return offsets[0] ?? 0;
}
