import * as yaml from 'yaml';
import { parseYaml, valueOfYaml } from '../../../shared/text/parse-yaml.ts';
import type { Flaw } from '../documents/model.ts';
import type { Place } from '../fields/members.ts';

type Node = { readonly range?: readonly [number, ...unknown[]] | null } | undefined;

/** A text with settings of the mesh. */
export interface SettingDocument {
  /** An empty object if the text as a whole is wrong. */
  readonly value: unknown;
  /** Adds a flaw at the line of a field; `''` stands for the first line. */
  readonly tell: Place['tell'];
  /** All flaws, those of the text as a whole first. */
  readonly flaws: readonly Flaw[];
}

export function settingDocument(content: string, path: string): SettingDocument {
  const flaws: Flaw[] = [];
  const addFlaw = (line: number, field: string, reason: string, severity: Flaw['severity']) =>
    flaws.push({ key: undefined, origin: { source: 'mesh', path, line }, field, reason, severity });
  const { value, lineOf } = documentOf(content, (line, reason) =>
    addFlaw(line, '', reason, 'error'),
  );
  return {
    value: value ?? {},
    tell: (field, reason, severity) => addFlaw(lineOf(field), field, reason, severity),
    flaws,
  };
}

/**
 * Returns the value of a text, undefined if the text as a whole is wrong; and the lines of fields.
 * The line of a field that is missing is that of the object around it.
 */
function documentOf(
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
    report(lineAt(error.pos[0]), `it is not YAML: ${error.message.split('\n')[0] ?? ''}`);
  else if (second !== undefined) report(lineAt(second.range[0]), 'it has more than one document');
  const isSound = document !== undefined && error === undefined && second === undefined;
  const read = isSound ? valueOfYaml(document) : undefined;
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
