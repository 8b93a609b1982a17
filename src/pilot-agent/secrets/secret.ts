import { createHash } from 'node:crypto';

/**
 * A certificate chain and its key; both PEM. A key is never a string: strings stay in the heap
 * until they are collected, and are in each snapshot of it.
 */
export interface Pair {
  readonly chain: string;
  readonly key: Buffer;
}

/** The roots (PEM) that vouch for the identities of one SPIFFE trust domain, and for no others. */
export interface TrustDomain {
  readonly name: string;
  readonly roots: string;
}

/** The content that Envoy gets under one name; all PEM. */
export type Secret =
  | ({ readonly kind: 'pair' } & Pair)
  | {
      readonly kind: 'roots';
      readonly roots: string;
      /** If it is there, Envoy uses these roots instead, each for its trust domain. */
      readonly trustDomains?: readonly TrustDomain[];
      /** The CRLs of these roots and of the authorities below them. */
      readonly crl?: string;
    };

/** Parts that belong together: a pair, the roots to trust, or both. */
export interface SecretSet {
  readonly pair?: Pair;
  readonly roots?: string;
  /**
   * The roots by trust domain, if the source separates them; `roots` are those of the workload's
   * own trust domain.
   */
  readonly trustDomains?: readonly TrustDomain[];
  readonly crl?: string;
}

/** Why the parts of a set cannot be served; a part that can be served is left out. */
export type SetFlaws = Readonly<Partial<Record<Secret['kind'], string>>>;

/**
 * One reading of a set at its source, whose name is for a person. `refused`: no part can be served,
 * and why. In a `set`, one part may be refused while the other is served.
 */
export type SetReading =
  | {
      readonly type: 'set';
      readonly source: string;
      readonly set: SecretSet;
      readonly refused?: SetFlaws;
      /** Why the newest CRLs are not served. The roots are served without them. */
      readonly crlFlaw?: string;
    }
  | { readonly type: 'refused'; readonly source: string; readonly reason: string };

/** Returns whether no part of a reading is refused. Pure. */
export function isWhole(reading: SetReading): boolean {
  return reading.type === 'set' && reading.refused === undefined;
}

/** A secret, and the version that identifies its content. */
export interface VersionedSecret {
  readonly secret: Secret;
  readonly version: string;
}

/** A push to an Envoy, or its answer. */
export type SecretAnswer =
  | { readonly type: 'pushed' | 'accepted'; readonly version: string }
  | { readonly type: 'rejected'; readonly version: string; readonly reason: string };

/** In characters. Envoy may repeat the pushed content. */
const longestReason = 1_000;

/** Returns why a secret that Envoy NACKed is not served, in one line. Pure. */
export function rejectionText(reason: string): string {
  return `Envoy rejects it: ${reason.slice(0, longestReason)}`;
}

/**
 * The state of a secret: what is served under its name, and why the newest content is not, if so.
 */
export interface SecretState {
  readonly name: string;
  /** The source of the served secret, or else of the newest content; for a person. */
  readonly source: string;
  /**
   * The secret that an Envoy gets if it asks: the newest one, or if an Envoy NACKed that, the last
   * one that was ACKed. Undefined until one can be served.
   */
  readonly offered: VersionedSecret | undefined;
  /**
   * The secret that Envoy has: the last one that it ACKed. Until Envoy asks, the one that it would
   * get. Undefined if it NACKed all of them.
   */
  readonly served: VersionedSecret | undefined;
  /** Why the newest content is not served: the agent refused it, or Envoy NACKed it. */
  readonly refused: string | undefined;
  /** The cause of this state: a reading, or the answer of an Envoy. */
  readonly by: 'reading' | 'answer';
}

/** Returns the state of a secret without content. Pure. */
export function absentSecret(name: string, refused?: string): SecretState {
  return { name, source: '', offered: undefined, served: undefined, refused, by: 'reading' };
}

/**
 * Returns the version of a secret's content: the first 16 hex digits of its sha256. So an Envoy
 * that already has the content does not get it again. Pure.
 */
export function secretVersion(secret: Secret): string {
  const { text, key } =
    secret.kind === 'pair'
      ? { text: secret.chain, key: secret.key }
      : { text: rootsText(secret), key: '' };
  return createHash('sha256').update(text).update('\0').update(key).digest('hex').slice(0, 16);
}

function rootsText({
  roots,
  trustDomains,
  crl = '',
}: Extract<Secret, { readonly kind: 'roots' }>): string {
  return trustDomains === undefined
    ? `${roots}${crl}`
    : JSON.stringify(trustDomains.map(({ name, roots: ofDomain }) => [name, ofDomain]));
}
