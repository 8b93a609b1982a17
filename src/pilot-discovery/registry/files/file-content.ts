import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import {
  type AnyResource,
  type Flaw,
  keyOf,
  type ResourceKey,
} from '../../istio/documents/model.ts';
import type { Steps } from '../../../shared/text/steps.ts';
import { documentsOf } from './documents.ts';
import type { FileDocument } from './file-document.ts';

/** Reads resources and flaws from a text, in steps. Their lines count from its start. */
export type ReadResources = (text: string, place: FilePlace) => Steps<Omit<Contents, 'before'>>;

export interface FilePlace {
  readonly source: string;
  readonly path: string;
  readonly defaultNamespace: string;
}

/** The content of a file. Immutable. */
export interface FileContent {
  readonly path: string;
  /** The hash of its bytes; '' if they could not be read. */
  readonly digest: string;
  /** The content of each document, by the hash of the document. */
  readonly documents: ReadonlyMap<string, Contents>;
  /** In order. A key may occur more than once. */
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  /** Stricter resources in the place of bad ones without a good version. See `closes`. */
  readonly closing: readonly AnyResource[];
  /** The last good versions of resources that are bad now. */
  readonly kept: ReadonlyMap<ResourceKey, AnyResource>;
}

interface Contents {
  readonly before: number;
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  readonly closing: readonly AnyResource[];
}

/**
 * The largest document, in bytes. It takes half a second to parse, and other changes in the folder
 * wait meanwhile.
 */
const largestDocument = 512 << 10;

/** Returns a hash of bytes, by which changes are found. */
export function digestOf(bytes: Buffer): string {
  return hash('sha1', bytes, 'base64');
}

/** Returns a file whose bytes cannot be read: it keeps all its resources. */
export function unreadableFile(
  before: FileContent | undefined,
  place: FilePlace,
  reason: string,
): FileContent {
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
 * Returns a file after a reading, in steps. Only new documents are parsed. A resource that has
 * become bad keeps its last good version. If a new document has an error and its resource is not
 * known, the file keeps all its previous resources. If the document already had the error, the file
 * keeps nothing more for it, because no good resource has become bad.
 */
export function* readFileContent(
  before: FileContent | undefined,
  bytes: Buffer,
  digest: string,
  place: FilePlace,
  read: ReadResources,
): Generator<undefined, FileContent, undefined> {
  if (!isUtf8(bytes))
    return { ...unreadableFile(before, place, 'it is not text in UTF-8'), digest };
  const documents = new Map<string, Contents>();
  const contents: Contents[] = [];
  let unknown = false; // a new document has an error, and it is not known which resource it was
  for (const document of documentsOf(bytes)) {
    const documentDigest = digestOf(document.bytes);
    const previous = documents.get(documentDigest) ?? before?.documents.get(documentDigest);
    const now =
      previous === undefined
        ? yield* contentsOf(document, place, read)
        : moved(previous, document.before);
    documents.set(documentDigest, now);
    contents.push(now);
    unknown ||= before?.documents.has(documentDigest) !== true && isNameless(now.flaws);
    if (previous === undefined) yield;
  }
  const resources = contents.flatMap((content) => content.resources);
  const flaws = contents.flatMap((content) => content.flaws);
  const closing = [
    ...contents.flatMap((content) => content.closing),
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
  { bytes, before }: FileDocument,
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

/** Returns the content of a document that now has `before` lines of the file in front of it. */
function moved(contents: Contents, before: number): Contents {
  const by = before - contents.before;
  if (by === 0) return contents;
  const move = <T extends Pick<AnyResource, 'origin'>>(item: T): T =>
    item.origin.line === 0
      ? item
      : { ...item, origin: { ...item.origin, line: item.origin.line + by } };
  return {
    before,
    resources: contents.resources.map(move),
    flaws: contents.flaws.map(move),
    closing: contents.closing.map(move),
  };
}

function keptOf(
  before: FileContent | undefined,
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
    ...before.resources.map((item) => [keyOf(item), item] as const),
  ]) {
    if (!good.has(key) && (unknown || bad.has(key) || (bad.has(undefined) && before.kept.has(key))))
      kept.set(key, resource);
  }
  return kept;
}

/** Whether a flaw is an error that names no resource. */
const isNameless = (flaws: readonly Flaw[]): boolean =>
  flaws.some(({ key, severity }) => key === undefined && severity === 'error');

/** Whether the file has fewer resources than before, or an error. */
export function isWorse(before: FileContent | undefined, after: FileContent): boolean {
  if (after.flaws.some(({ severity }) => severity === 'error')) return true;
  if (before === undefined) return false;
  const has = new Set([...after.kept.keys(), ...after.resources.map(keyOf)]);
  return [...before.kept.keys(), ...before.resources.map(keyOf)].some((key) => !has.has(key));
}
