import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../../istio/model.ts';
import type { Steps } from '../../../shared/text/steps.ts';
import { type Document, documentsOf } from './documents.ts';

/** Makes resources, and what is wrong, of a text, in steps; both say the lines of that text. */
export type ReadResources = (text: string, place: FilePlace) => Steps<Omit<Contents, 'before'>>;

export interface FilePlace {
  readonly source: string;
  readonly path: string;
  readonly defaultNamespace: string;
}

/** What is known of a file. Immutable. */
export interface KnownFile {
  readonly path: string;
  /** Of its bytes; '' where they could not be read. */
  readonly digest: string;
  /** What was in each of its documents, by digest. */
  readonly documents: ReadonlyMap<string, Contents>;
  /** In order, a key perhaps more than once. */
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  /** What closes what bad ones would restrict, if they have no last good version. */
  readonly closing: readonly AnyResource[];
  /** The last good version of what is bad by now. */
  readonly kept: ReadonlyMap<ResourceKey, AnyResource>;
}

interface Contents {
  readonly before: number;
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  readonly closing: readonly AnyResource[];
}

/** In bytes. To parse it takes half a second, and what changes meanwhile in the folder waits. */
const largestDocument = 512 << 10;

/** Of bytes, to tell whether they are others. */
export function digestOf(bytes: Buffer): string {
  return hash('sha1', bytes, 'base64');
}

/** A file whose bytes cannot be had: all that was in it stays. */
export function unreadableFile(
  before: KnownFile | undefined,
  place: FilePlace,
  reason: string,
): KnownFile {
  const origin = { source: place.source, path: place.path, line: 0 };
  const flaws: readonly Flaw[] = [
    {
      key: undefined,
      origin,
      field: '',
      reason: `the file cannot be read: ${reason}`,
      severity: 'error',
    },
  ];
  return {
    path: place.path,
    documents: new Map(),
    resources: [],
    closing: [],
    kept: new Map(),
    ...before,
    digest: '',
    flaws,
  };
}

/**
 * A file after a reading, in steps. Only documents that were not in it before are parsed. What has
 * become bad in it stays as it was, and where it cannot be told what is bad, all that was in it:
 * not where that was so before, for then nothing good has become it.
 */
export function* readKnownFile(
  before: KnownFile | undefined,
  bytes: Buffer,
  digest: string,
  place: FilePlace,
  read: ReadResources,
): Generator<undefined, KnownFile, undefined> {
  if (!isUtf8(bytes)) return { ...unreadableFile(before, place, 'it is no text in UTF-8'), digest };
  const documents = new Map<string, Contents>();
  const contents: Contents[] = [];
  let unknown = false; // a document is new of which cannot be told what was in it before
  for (const document of documentsOf(bytes)) {
    const its = digestOf(document.bytes);
    const known = documents.get(its) ?? before?.documents.get(its);
    const now =
      known === undefined
        ? yield* contentsOf(document, place, read)
        : moved(known, document.before);
    documents.set(its, now);
    contents.push(now);
    unknown ||= before?.documents.has(its) !== true && isNameless(now.flaws);
    if (known === undefined) yield;
  }
  const resources = contents.flatMap((one) => one.resources);
  const flaws = contents.flatMap((one) => one.flaws);
  const closing = [
    ...contents.flatMap((one) => one.closing),
    ...(unknown ? (before?.closing ?? []) : []),
  ];
  return {
    path: place.path,
    digest,
    documents,
    resources,
    flaws,
    closing,
    kept: keptOf(before, resources, flaws, unknown),
  };
}

function* contentsOf(
  { bytes, before }: Document,
  place: FilePlace,
  read: ReadResources,
): Steps<Contents> {
  const nothing = (reason: string): Contents => {
    const origin = { source: place.source, path: place.path, line: before + 1 };
    return {
      before,
      resources: [],
      closing: [],
      flaws: [{ key: undefined, origin, field: '', reason, severity: 'error' }],
    };
  };
  if (bytes.length > largestDocument)
    return nothing(
      `the document has ${bytes.length} bytes, and ${largestDocument} are read at most: divide it by '---'`,
    );
  try {
    return moved({ before: 0, ...(yield* read(bytes.toString(), place)) }, before);
  } catch (error) {
    return nothing(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The same after so many lines of the file. */
function moved(contents: Contents, before: number): Contents {
  const by = before - contents.before;
  if (by === 0) return contents;
  const move = <T extends Pick<AnyResource, 'origin'>>(one: T): T =>
    one.origin.line === 0 ? one : { ...one, origin: { ...one.origin, line: one.origin.line + by } };
  return {
    before,
    resources: contents.resources.map(move),
    flaws: contents.flaws.map(move),
    closing: contents.closing.map(move),
  };
}

function keptOf(
  before: KnownFile | undefined,
  resources: readonly AnyResource[],
  flaws: readonly Flaw[],
  unknown: boolean,
): ReadonlyMap<ResourceKey, AnyResource> {
  const kept = new Map<ResourceKey, AnyResource>();
  const bad = new Set(flaws.filter(({ severity }) => severity === 'error').map(({ key }) => key));
  if (before === undefined || bad.size === 0) return kept;
  const good = new Set(resources.map(keyOf));
  for (const [key, resource] of [
    ...before.kept,
    ...before.resources.map((one) => [keyOf(one), one] as const),
  ]) {
    if (!good.has(key) && (unknown || bad.has(key) || (bad.has(undefined) && before.kept.has(key))))
      kept.set(key, resource);
  }
  return kept;
}

/** Whether something is wrong of which cannot be told which resource it is. */
const isNameless = (flaws: readonly Flaw[]): boolean =>
  flaws.some(({ key, severity }) => key === undefined && severity === 'error');

/** Whether one has less than was there before, or more that is wrong. */
export function isWorse(before: KnownFile | undefined, after: KnownFile): boolean {
  if (after.flaws.some(({ severity }) => severity === 'error')) return true;
  if (before === undefined) return false;
  const has = new Set([...after.kept.keys(), ...after.resources.map(keyOf)]);
  return [...before.kept.keys(), ...before.resources.map(keyOf)].some((key) => !has.has(key));
}
