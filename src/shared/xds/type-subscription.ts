import type { EnvoyRequest, ErrorDetail } from './messages.ts';

/** The types that one policy fills in. */
export interface SubscriptionKind {
  /** What a client is given under a name. */
  readonly resource: unknown;
  /** Stands for what a client had before it came, of which only the version is known. */
  readonly had: unknown;
  /** All that there is to give at one moment. */
  readonly source: object;
  /** What the policy has to know of an answer when the client ACKs or NACKs it. */
  readonly note: unknown;
  /** What is sent to the client. */
  readonly message: unknown;
  /** What the policy has to know to choose and to write an answer. */
  readonly context: unknown;
  /** Why the policy does not send what has changed. */
  readonly reason: string;
}

/** What a client has under a name. */
export type HeldResource<K extends SubscriptionKind> = K['resource'] | K['had'];

/** An answer that the client has neither ACKed nor NACKed. */
export interface AnswerInFlight<K extends SubscriptionKind> {
  readonly nonce: string;
  readonly given: ReadonlyMap<string, K['resource']>;
  /** What the client had under the names that are given or removed. */
  readonly before: ReadonlyMap<string, HeldResource<K> | undefined>;
  /** The client has all of this source once it ACKs. */
  readonly settles: K['source'] | undefined;
  readonly note: K['note'];
}

/** What one client wants of one type, and what it has. Immutable. */
export interface TypeSubscription<K extends SubscriptionKind> {
  /** Whether it has asked for the type, and what it had when it did. */
  readonly comes: 'not yet' | 'empty-handed' | 'with-versions';
  /** The version that a state-of-the-world client came with; empty for none. */
  readonly claimed: string;
  /** It wants all resources of the type. */
  readonly wildcard: boolean;
  /** What it wants by name. */
  readonly names: ReadonlySet<string>;
  /** Names that it has asked for and that were not answered since. */
  readonly unanswered: ReadonlySet<string>;
  readonly held: ReadonlyMap<string, HeldResource<K>>;
  /** There is one at most. What is newer waits for the ACK or NACK. */
  readonly inFlight: AnswerInFlight<K> | undefined;
  /** What it has NACKed, by name; undefined under a name that was removed. */
  readonly refused: ReadonlyMap<string, K['resource'] | undefined>;
  /** Why it has NACKed that, the last time. */
  readonly refusal: ErrorDetail | undefined;
  /** How many answers were sent. */
  readonly answers: number;
  readonly lastNonce: string;
  /** The note of the answer that it has ACKed last. */
  readonly accepted: K['note'] | undefined;
  /** Of this source there is nothing left to send. */
  readonly settled: K['source'] | undefined;
}

/** A subscription before its first request. Pure. */
export function freshSubscription<K extends SubscriptionKind>(): TypeSubscription<K> {
  return {
    comes: 'not yet',
    claimed: '',
    wildcard: false,
    names: new Set(),
    unanswered: new Set(),
    held: new Map(),
    inFlight: undefined,
    refused: new Map(),
    refusal: undefined,
    answers: 0,
    lastNonce: '',
    accepted: undefined,
    settled: undefined,
  };
}

/** What a client does not have of a source. */
export interface Lack<K extends SubscriptionKind> {
  /** Resources that it wants and does not have, without those that it has NACKed. */
  readonly changed: ReadonlyMap<string, K['resource']>;
  /** What a client that wants all has, and is in the source no more. */
  readonly gone: readonly string[];
  /** Names without an answer that are not among the changed ones. */
  readonly missing: readonly string[];
}

/** What is sent of that. */
export type Choice<K extends SubscriptionKind> =
  | {
      readonly type: 'give';
      readonly given: ReadonlyMap<string, K['resource']>;
      readonly removed: readonly string[];
      /** Names that this does not answer. */
      readonly unanswered: readonly string[];
      /** Whether there is nothing left to send once the client has it. */
      readonly leaves: 'nothing' | 'more';
    }
  /** The client has all that has changed already: it came with it. */
  | { readonly type: 'has' }
  | { readonly type: 'nothing' }
  | { readonly type: 'wait'; readonly waitsFor: K['reason'] | undefined };

/** An answer before it is written, and what the client has once it ACKs. */
export interface ChosenAnswer<K extends SubscriptionKind> {
  readonly given: ReadonlyMap<string, K['resource']>;
  readonly removed: readonly string[];
  readonly unanswered: readonly string[];
  readonly leaves: 'nothing' | 'more';
  readonly held: ReadonlyMap<string, HeldResource<K>>;
}

/** An answer that is written. */
export interface WrittenAnswer<K extends SubscriptionKind> {
  readonly nonce: string;
  readonly note: K['note'];
  readonly message: K['message'];
}

/** How one user of the machine differs from another. All functions are pure. */
export interface SubscriptionPolicy<K extends SubscriptionKind> {
  /** Whether a client can ask for all resources, and how. */
  readonly wildcard: 'never' | 'by asterisk' | 'by naming nothing';
  /** What becomes of the names of a state-of-the-world request that answers an older answer. */
  readonly staleNames: 'taken' | 'ignored in flight' | 'ignored';
  /** Whether a NACKed resource is held back alone, or until anything else changes. */
  readonly holdsBack: 'each' | 'whole';
  readonly had: (name: string, version: string) => K['had'];
  /** What a client that comes with a version has; undefined if nobody knows. */
  readonly hadAll?: (
    version: string,
    source: K['source'],
  ) => ReadonlyMap<string, HeldResource<K>> | undefined;
  /** Names under which the client goes on with what it had before it NACKed. */
  readonly blamed: (inFlight: AnswerInFlight<K>, reason: string) => readonly string[];
  readonly isSame: (held: HeldResource<K>, resource: K['resource']) => boolean;
  readonly isSameSource: (a: K['source'], b: K['source']) => boolean;
  readonly resourcesOf: (
    source: K['source'],
    subscription: TypeSubscription<K>,
  ) => ReadonlyMap<string, K['resource']>;
  /** A name as the source has it, so that thousands of clients hold one text. */
  readonly sharedName?: (name: string, source: K['source']) => string;
  /** Names of all that differs between two sources; undefined if all are looked through. */
  readonly changedNames?: (before: K['source'], after: K['source']) => readonly string[];
  readonly choose: (
    lack: Lack<K>,
    subscription: TypeSubscription<K>,
    context: K['context'],
  ) => Choice<K>;
  readonly write: (
    answer: ChosenAnswer<K>,
    subscription: TypeSubscription<K>,
    context: K['context'],
  ) => WrittenAnswer<K>;
}

/** What happens to a subscription. */
export type SubscriptionEvent<K extends SubscriptionKind> =
  /** A request of the client; `source` is what there is by now. */
  | {
      readonly type: 'request';
      readonly request: Pick<EnvoyRequest, 'nonce' | 'refusal' | 'names'>;
      readonly source: K['source'] | undefined;
    }
  /** There may be something to send. */
  | { readonly type: 'offer'; readonly source: K['source']; readonly context: K['context'] }
  /** The client has to be given again what is under these names. */
  | { readonly type: 'again'; readonly names: Iterable<string> };

/** What comes of it. */
export type SubscriptionEffect<K extends SubscriptionKind> =
  /** The client wants other names than before, or has asked for the first time. */
  | { readonly type: 'asked' }
  | { readonly type: 'accepted'; readonly answer: AnswerInFlight<K> }
  | {
      readonly type: 'rejected';
      readonly answer: AnswerInFlight<K>;
      readonly blamed: readonly string[];
      readonly refusal: ErrorDetail;
    }
  | { readonly type: 'answer'; readonly message: K['message'] }
  /** Nothing is sent: for this reason, or since there is nothing to send. */
  | {
      readonly type: 'unsent';
      readonly waitsFor: K['reason'] | 'in flight' | 'NACKed' | undefined;
    };
