import { createHash } from 'node:crypto';
import type { ConfigSource, SourcePart, SourceReading } from '../../streams/config-source.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { isObject } from '../../shared/text/is-object.ts';

/** The content of a reading: a text, bytes, or an object as JSON can hold it. */
export type Content = string | Uint8Array | object;

/** The purpose of a source; it decides the effect of a change. */
export type Use =
  /** A trigger only: a change starts a new epoch from the same configuration. */
  | 'restart'
  /** Envoy's configuration, instead of any other: a change starts a new epoch. */
  | 'envoy'
  /** An overlay for Envoy's configuration: a change starts a new epoch. */
  | 'merge'
  /** Log levels and runtime values: a change is sent to the running Envoy. */
  | 'runtime'
  /** A certificate with its key, or roots: a change is pushed over SDS. */
  | 'secret';

/** The contribution of one source to the configuration. */
export interface Contribution {
  /** The name of the source. */
  readonly source: string;
  readonly use: Use;
  /**
   * For `merge`: a field of Envoy's configuration, such as `static_resources.clusters`; '' for all.
   */
  readonly at: string;
  /** Identifies the content; '' if there is none. */
  readonly hash: string;
  /** The content that was read last; undefined if nothing was read yet. */
  readonly content: Content | undefined;
  /** Why there is no content, or no newer one; undefined if all is well. */
  readonly trouble: string | undefined;
  /** Its source has its own window: a change does not wait for the agent's. */
  readonly isGathered?: true;
}

/** A source that a run can use. `compose` combines several. */
export interface ContributingSource extends ConfigSource<readonly Contribution[]> {
  /** The names of its contributions, if they are known before it is read. */
  readonly names?: readonly string[];
}

export type ContributedReading = SourceReading<readonly Contribution[]>;

/** Returns a reading of these contributions. Pure. */
export function readingOf(config: readonly Contribution[]): ContributedReading {
  return {
    hash: config.map(({ hash }) => hash).join('+'),
    config,
    parts: () => config.flatMap(({ source, content }) => contentParts(source, content)),
  };
}

/** Returns whether a value is an object whose members may change one by one. Pure. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof Uint8Array);
}

/**
 * Returns the sha256 (hex) of a content; for an object, of its JSON with sorted members. '' for no
 * content. Pure.
 */
export function contentHash(content: Content | undefined): string {
  if (content === undefined) return '';
  const bytes =
    typeof content === 'string' || content instanceof Uint8Array
      ? content
      : JSON.stringify(inOrder(content));
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Returns the value as in JSON, but with sorted members, as pairs. A replacer of JSON.stringify
 * takes twice as long, and does not get the bytes of a Buffer.
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

/** Returns whether a value converts itself to JSON, as a Date does. */
function saysItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Returns the parts of a content, for the log: the members of an object, or the whole. Pure. */
function contentParts(source: string, content: Content | undefined): readonly SourcePart[] {
  if (!isMap(content)) return [{ source, part: '', hash: contentHash(content) }];
  return Object.entries(content).map(([part, value]) => ({
    source,
    part,
    hash: contentHash([value]),
  }));
}

/** Returns a content as a text; an object as JSON. Pure. */
export function contentText(content: Content): string {
  if (content instanceof Uint8Array) return Buffer.from(content).toString();
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** Returns the reason in a thrown value. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason === '' ? 'unknown' : reason;
}
