import type { FileDocument } from './file-document.ts';

/** The lines of one item. `until` is the first line after it. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/**
 * Divides a `List` into one document for each item, by the indentation with which
 * `kubectl get -o yaml` and `-o json` write it. Undefined for any other text, even for a `List`
 * that is written in another way, or in which an alias stands for a part outside its item. Pure.
 */
export function listItems({ bytes, before }: FileDocument): readonly FileDocument[] | undefined {
  const isJson = /^\s*\{/.test(bytes.toString('latin1', 0, 100));
  if (!bytes.includes(isJson ? '"kind": "List"' : 'kind: List')) return undefined;
  // One character for each byte, so that an offset in the text is one in the bytes.
  const written = bytes.toString('latin1').split('\n');
  const lines = written.map((line) => line.trimEnd());
  const spans = isJson ? spansOfJson(lines) : spansOfYaml(lines);
  const starts = [0];
  for (const line of written) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  return spans?.map(({ from, until }) => {
    const item = Buffer.from(bytes.subarray(starts[from], starts[until]));
    const mark = isJson ? item.lastIndexOf('}') + 1 : item.indexOf('-');
    if (mark < item.length) item.write(' ', mark);
    return { bytes: item, before: before + from };
  });
}

/**
 * All entries begin in the column of the first one. No other line of an entry has `- ` in that
 * column.
 */
function spansOfYaml(lines: readonly string[]): readonly Span[] | undefined {
  const items = lines.indexOf('items:');
  if (items === -1 || !lines.includes('kind: List')) return undefined;
  const first = lines.findIndex((line, index) => index > items && !/^ *(?:#.*)?$/.test(line));
  const entry = /^ *- /.exec(lines[first] ?? '')?.[0];
  if (entry === undefined) return undefined;
  const after = lines.findIndex(
    (line, index) => index > items && !/^(?: |#|$)/.test(line) && !line.startsWith(entry),
  );
  const end = after === -1 ? lines.length : after;
  const others = [...lines.slice(0, items), ...lines.slice(end)];
  const isList = others.every((line) => /^(?: |#|$|---|(?:apiVersion|kind|metadata):)/.test(line));
  if (!isList) return undefined;
  const froms = [...lines.keys()].filter(
    (index) => index >= first && index < end && lines[index]?.startsWith(entry) === true,
  );
  const spans = froms.map((from, index) => ({ from, until: froms[index + 1] ?? end }));
  return isApart(lines, spans) ? spans : undefined;
}

/** Returns whether no entry has an alias for an anchor that only another part of the text has. */
function isApart(lines: readonly string[], spans: readonly Span[]): boolean {
  const anchors = namesIn(lines, anchor);
  if (anchors.size === 0) return true;
  return spans.every(({ from, until }) => {
    const entry = lines.slice(from, until);
    const entryAnchors = namesIn(entry, anchor);
    return [...namesIn(entry, alias)].every((name) => entryAnchors.has(name) || !anchors.has(name));
  });
}

/** These find anchors and aliases. They may find other words in a text, too. */
const anchor = /(?<=^|[\s[{,])&([^\s[\]{},]+)/g;
const alias = /(?<=^|[\s[{,])\*([^\s[\]{},]+)/g;

const namesIn = (lines: readonly string[], sign: RegExp): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => [...line.matchAll(sign)].map(([, name = '']) => name)));

/** A string of JSON has no line feed, so a line is never inside one. */
function spansOfJson(lines: readonly string[]): readonly Span[] | undefined {
  const items = lines.findIndex((line) => /^ +"items": \[$/.test(line));
  const indent = /^( +)\{$/.exec(lines[items + 1] ?? '')?.[1];
  const member = /^ +/.exec(lines[items] ?? '')?.[0];
  if (indent === undefined || member === undefined) return undefined;
  const isList = lines.some((line) => line.replace(/,$/, '') === `${member}"kind": "List"`);
  const end = lines.findIndex((line) => line === `${member}]` || line === `${member}],`);
  if (!isList || end === -1) return undefined;
  const froms = [...lines.keys()].filter(
    (index) => index > items && index < end && lines[index] === `${indent}{`,
  );
  return froms.map((from, index) => ({ from, until: froms[index + 1] ?? end }));
}
