import { createHash } from 'node:crypto';
import type { ConfigSource, SourcePart, SourceReading } from '../../streams/config-source.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** What an author's reading says: a text, bytes, or what JSON can have. */
export type Content = string | Uint8Array | object;

/** What a source is for; the effect of a change follows from it. */
export type Use =
  /** A reason to look again: a change starts a new epoch from the same configuration. */
  | 'restart'
  /** It is Envoy's configuration, in the place of any other: a change starts a new epoch. */
  | 'envoy'
  /** It is laid over Envoy's configuration: a change starts a new epoch. */
  | 'merge'
  /** Log levels and runtime values: a change is told to the Envoy that runs. */
  | 'runtime'
  /** A certificate with its key, or roots: a change is pushed over SDS. */
  | 'secret';

/** What one source gives to the configuration. */
export interface Contribution {
  /** The name of the source. */
  readonly source: string;
  readonly use: Use;
  /** For `merge`: a field of Envoy's configuration, as `static_resources.clusters`; '' for all. */
  readonly at: string;
  /** Names the content; '' where there is none. */
  readonly hash: string;
  /** What was read last; undefined where nothing was read yet. */
  readonly content: Content | undefined;
  /** Why there is none, or nothing newer; undefined where all is well. */
  readonly trouble: string | undefined;
  /** Its source has a window of its own: a change does not wait for that of the agent. */
  readonly isGathered?: true;
}

/** A source that a run can use. Several are composed by `compose`. */
export interface ContributingSource extends ConfigSource<readonly Contribution[]> {
  /** The names of what it gives, where they are known before it is read. */
  readonly names?: readonly string[];
}

export type ContributedReading = SourceReading<readonly Contribution[]>;

/** A reading of these contributions. Pure. */
export function readingOf(config: readonly Contribution[]): ContributedReading {
  return {
    hash: config.map(({ hash }) => hash).join('+'),
    config,
    parts: () => config.flatMap(({ source, content }) => contentParts(source, content)),
  };
}

/** Whether a value has members of its own, each of which may change. Pure. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  );
}

/** sha256 (hex) of a content; of an object as JSON with its members in order. '' for none. Pure. */
export function contentHash(content: Content | undefined): string {
  if (content === undefined) return '';
  const bytes =
    typeof content === 'string' || content instanceof Uint8Array
      ? content
      : JSON.stringify(inOrder(content));
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * The same as what JSON has of it, but with members in order, as pairs: a replacer of
 * JSON.stringify takes twice as long, and gets no bytes of a Buffer.
 */
function inOrder(value: unknown): unknown {
  if (value instanceof Uint8Array) return contentHash(value);
  if (typeof value !== 'object' || value === null) return value;
  if (saysItself(value)) return inOrder(value.toJSON());
  if (Array.isArray(value)) return value.map(inOrder);
  const members = value as Readonly<Record<string, unknown>>;
  return {
    members: Object.keys(members)
      .sort()
      .map((name) => [name, inOrder(ownMember(members, name))]),
  };
}

/** Such as a Date. */
function saysItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/**
 * The parts of what a source says, for the log: the members of an object, or the whole. Pure.
 */
function contentParts(source: string, content: Content | undefined): readonly SourcePart[] {
  if (!isMap(content)) return [{ source, part: '', hash: contentHash(content) }];
  return Object.entries(content).map(([part, value]) => ({
    source,
    part,
    hash: contentHash([value]),
  }));
}

/** A content as a text: an object is JSON. Pure. */
export function contentText(content: Content): string {
  if (content instanceof Uint8Array) return Buffer.from(content).toString();
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** What has been thrown, in words. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason === '' ? 'unknown' : reason;
}
