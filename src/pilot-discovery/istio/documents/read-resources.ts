import * as yaml from 'yaml';
import { parseYamlInSteps } from '../../../shared/text/parse-yaml.ts';
import { quickYaml } from '../../../shared/text/quick-yaml.ts';
import { atOnce, type Steps } from '../../../shared/text/steps.ts';
import { headOf } from './document-head.ts';
import type { AnyResource, Flaw } from './model.ts';
import { readDocument, type ReadDocument, type TextPlace } from './read-document.ts';
import { type Item, itemsOf } from './text-items.ts';

/** The good resources of a text, and the flaws of the others. */
export interface ReadText {
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  /** Resources that close what a refused resource would restrict, if it has no good version. */
  readonly closing: readonly AnyResource[];
}

/**
 * The largest number of tokens in a document that the quick parser cannot read. Such a document is
 * composed in one step.
 */
const tokens = 100_000;

/**
 * Reads a text of YAML or JSON with one or more documents. A flaw in one resource does not affect
 * the others. Never throws. Pure.
 */
export function readResources(content: string, place: TextPlace): ReadText {
  return atOnce(readResourcesInSteps(content, place));
}

/** Reads resources in steps. */
export function* readResourcesInSteps(content: string, place: TextPlace): Steps<ReadText> {
  const quick = quickYaml(content);
  if (quick !== undefined && !isList(quick.value)) {
    const { value, line, lineOf } = quick;
    const item: Item = { content: () => ({ ok: true, value }), line, lineOf };
    return yield* readItems(value === null ? [] : [item], place);
  }
  const parsed = yield* parseYamlInSteps(yaml, content, { uniqueKeys: true }, { tokens });
  if (!parsed.ok)
    return { resources: [], closing: [], flaws: [flawOf(place, parsed.line, parsed.reason)] };
  const lineAt = (offset: number) => Math.max(parsed.lines.linePos(offset).line, 1);
  return yield* readItems(itemsOf(parsed.documents, lineAt), place);
}

/**
 * Reads an object of an API, which has the members of a document and no lines. Never throws. Pure.
 */
export function readObject(value: unknown, place: TextPlace): ReadText {
  const item: Item = { content: () => ({ ok: true, value }), line: 0, lineOf: () => 0 };
  return atOnce(readItems([item], place));
}

const isList = (value: unknown): boolean => headOf(value).kind === 'List';

/** Returns a flaw of a whole text or document. */
function flawOf({ source, path }: TextPlace, line: number, reason: string): Flaw {
  return { key: undefined, origin: { source, path, line }, field: '', reason, severity: 'error' };
}

function* readItems(items: Iterable<Item>, place: TextPlace): Steps<ReadText> {
  const documents: ReadDocument[] = [];
  for (const item of items) {
    documents.push(readDocument(item, place));
    yield;
  }
  return {
    resources: documents.flatMap(({ resource }) => resource ?? []),
    flaws: documents.flatMap(({ flaws }) => flaws),
    closing: documents.flatMap(({ closing }) => closing ?? []),
  };
}
