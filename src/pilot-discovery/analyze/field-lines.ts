import * as yaml from 'yaml';
import { quickYaml } from '../../shared/text/quick-yaml.ts';
import { parseYaml } from '../../shared/text/parse-yaml.ts';
import { itemsOf } from '../istio/documents/text-items.ts';
import { documentsOf } from '../registry/files/documents.ts';
import type { AnalysisFinding } from './finding.ts';

/** Gives findings the lines of their fields. */
export interface FieldLines {
  readonly withLine: (finding: AnalysisFinding) => AnalysisFinding;
}

/** By the line at which a resource begins: a function that finds the lines of its fields. */
type Lines = ReadonlyMap<number, (field: string) => number>;

/**
 * Finds the lines of fields in files, each of which is parsed once, and only if it has a finding.
 *
 * @param bytesOf the content of a file; undefined if it cannot be read
 */
export function fieldLines(bytesOf: (path: string) => Buffer | undefined): FieldLines {
  const files = new Map<string, Lines>();
  const linesIn = (path: string): Lines => {
    const lines = files.get(path) ?? linesOf(bytesOf(path));
    files.set(path, lines);
    return lines;
  };
  return {
    withLine(finding) {
      const { origin, field } = finding;
      if (finding.key === undefined || field === '') return finding;
      const line = linesIn(origin.path).get(origin.line)?.(field);
      return line === undefined ? finding : { ...finding, origin: { ...origin, line } };
    },
  };
}

function linesOf(bytes: Buffer | undefined): Lines {
  const lines = new Map<number, (field: string) => number>();
  for (const document of bytes === undefined ? [] : documentsOf(bytes))
    for (const { line, lineOf } of itemsIn(document.bytes.toString()))
      lines.set(line + document.before, (field) => lineOf(field) + document.before);
  return lines;
}

interface Placed {
  readonly line: number;
  readonly lineOf: (field: string) => number;
}

function itemsIn(text: string): Iterable<Placed> {
  const quick = quickYaml(text);
  const isList = (quick?.value as { readonly kind?: unknown } | null | undefined)?.kind === 'List';
  if (quick !== undefined && !isList) return [quick];
  const parsed = parseYaml(yaml, text, { uniqueKeys: false });
  if (!parsed.ok) return [];
  return itemsOf(parsed.documents, (offset) => Math.max(parsed.lines.linePos(offset).line, 1));
}
