import { createHash } from 'node:crypto';

/**
 * A certificate chain and its key; both PEM. A key is never a text: texts stay in the heap until
 * they are collected, and are in each snapshot of it.
 */
export interface Pair {
  readonly chain: string;
  readonly key: Buffer;
}

/** What Envoy is given under one name; all PEM. */
export type Secret =
  ({ readonly kind: 'pair' } & Pair) | { readonly kind: 'roots'; readonly roots: string };

/** What belongs together: a pair, the roots to trust, or both. */
export interface SecretSet {
  readonly pair?: Pair;
  readonly roots?: string;
}

/** Why the parts of a set can not be served; a part that can is left out. */
export type SetFlaws = { readonly [Part in keyof SecretSet]?: string };

/**
 * One reading of a set at its source, which is named for a person. `refused` is of which nothing
 * can be served, and why; of a `set` a part may be refused, and the other one served.
 */
export type SetReading =
  | {
      readonly type: 'set';
      readonly source: string;
      readonly set: SecretSet;
      readonly refused?: SetFlaws;
    }
  | { readonly type: 'refused'; readonly source: string; readonly reason: string };

/** Whether nothing of a reading is refused. Pure. */
export function isWhole(reading: SetReading): boolean {
  return reading.type === 'set' && reading.refused === undefined;
}

/** A secret and the version that names its content. */
export interface VersionedSecret {
  readonly secret: Secret;
  readonly version: string;
}

/** What an Envoy was given, and what it has made of that. */
export type SecretAnswer =
  | { readonly type: 'pushed' | 'accepted'; readonly version: string }
  | { readonly type: 'rejected'; readonly version: string; readonly reason: string };

/** In characters. Envoy may repeat what it was given. */
const longestReason = 1_000;

/** Why a secret is not served that Envoy has rejected, in one line. Pure. */
export function rejectionText(reason: string): string {
  return `Envoy rejects it: ${reason.slice(0, longestReason)}`;
}

/**
 * How it stands with a secret: what is served under its name, and why what came last is not, if so.
 */
export interface SecretState {
  readonly name: string;
  /** Where what is served comes from, else what came last; for a person. */
  readonly source: string;
  /**
   * What an Envoy is given that asks: what came last, or if an Envoy has rejected that, what it has
   * accepted before. Undefined until there is one that can be served.
   */
  readonly offered: VersionedSecret | undefined;
  /**
   * What Envoy has: what it has accepted last. Until one is asked, what it would be given.
   * Undefined if it has rejected all that there was.
   */
  readonly served: VersionedSecret | undefined;
  /** Why what came last is not served: by the agent, or by Envoy. */
  readonly refused: string | undefined;
  /** What has led to this state: a reading, or the answer of an Envoy. */
  readonly by: 'reading' | 'answer';
}

/** The state of a secret of which there is nothing. Pure. */
export function absentSecret(name: string, refused?: string): SecretState {
  return { name, source: '', offered: undefined, served: undefined, refused, by: 'reading' };
}

/**
 * Names the content of a secret: the first 16 hex digits of its sha256. So an Envoy that has it
 * already is not given it again. Pure.
 */
export function secretVersion(secret: Secret): string {
  const { text, key } =
    secret.kind === 'pair'
      ? { text: secret.chain, key: secret.key }
      : { text: secret.roots, key: '' };
  return createHash('sha256').update(text).update('\0').update(key).digest('hex').slice(0, 16);
}
