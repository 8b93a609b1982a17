import type { EnvoyRequest, ErrorDetail } from './messages.ts';

/** The types that a policy chooses. */
export interface SubscriptionKind {
  /** A resource that is sent to a client under a name. */
  readonly resource: unknown;
  /** Stands for a resource that a client had before it connected. Only its version is known. */
  readonly had: unknown;
  /** Everything that can be sent at one moment. */
  readonly source: object;
  /** The data that the policy needs about an answer when the client ACKs or NACKs it. */
  readonly note: unknown;
  /** A message that is sent to the client. */
  readonly message: unknown;
  /** The data that the policy needs to choose and to write an answer. */
  readonly context: unknown;
  /** Why the policy does not send a change. */
  readonly reason: string;
}

/** A resource that a client has under a name. */
export type ClientResource<K extends SubscriptionKind> = K['resource'] | K['had'];

/** An answer that the client has neither ACKed nor NACKed. */
export interface AnswerInFlight<K extends SubscriptionKind> {
  readonly nonce: string;
  readonly given: ReadonlyMap<string, K['resource']>;
  /** The resources that the client had under the names that are given or removed. */
  readonly before: ReadonlyMap<string, ClientResource<K> | undefined>;
  /** The source that the client has in full once it ACKs. */
  readonly syncedAfterAck: K['source'] | undefined;
  readonly note: K['note'];
}

/** The resources of one type that one client wants, and those that it has. Immutable. */
export interface TypeSubscription<K extends SubscriptionKind> {
  /** Whether the client has requested the type, and whether it then had resources. */
  readonly comes: 'not yet' | 'empty-handed' | 'with-versions';
  /** The version in the first request of a state-of-the-world client; empty for none. */
  readonly claimed: string;
  /** Whether it wants all resources of the type. */
  readonly wildcard: boolean;
  /** The names that it wants explicitly. */
  readonly names: ReadonlySet<string>;
  /** The digest of the last request for names; undefined if it had none. */
  readonly namesDigest: string | undefined;
  /** Names that it requested and that no answer has had since. */
  readonly unanswered: ReadonlySet<string>;
  readonly clientResources: ReadonlyMap<string, ClientResource<K>>;
  /** At most one answer. Newer resources wait for its ACK or NACK. */
  readonly inFlight: AnswerInFlight<K> | undefined;
  /** The resources that it has NACKed, by name; undefined under a name that was removed. */
  readonly refused: ReadonlyMap<string, K['resource'] | undefined>;
  /** The reason of its last NACK. */
  readonly refusal: ErrorDetail | undefined;
  /** The number of answers that were sent. */
  readonly answers: number;
  readonly lastNonce: string;
  /** The note of the last answer that it ACKed. */
  readonly accepted: K['note'] | undefined;
  /** The source that the client has in full: nothing is left to send. */
  readonly syncedSource: K['source'] | undefined;
}

/** Returns a subscription before its first request. Pure. */
export function newSubscription<K extends SubscriptionKind>(): TypeSubscription<K> {
  return {
    comes: 'not yet',
    claimed: '',
    wildcard: false,
    names: new Set(),
    namesDigest: undefined,
    unanswered: new Set(),
    clientResources: new Map(),
    inFlight: undefined,
    refused: new Map(),
    refusal: undefined,
    answers: 0,
    lastNonce: '',
    accepted: undefined,
    syncedSource: undefined,
  };
}

/** The differences between a source and what a client has. */
export interface Lack<K extends SubscriptionKind> {
  /**
   * The resources that it wants and lacks, and those with unanswered names. If `holdsBack` is
   * `each`, without the versions that it has NACKed.
   */
  readonly changed: ReadonlyMap<string, K['resource']>;
  /** Names that a client that wants all resources has, but the source no longer has. */
  readonly gone: readonly string[];
  /** Unanswered names that are not in `changed`. */
  readonly missing: readonly string[];
}

/** The part of a {@link Lack} that the policy sends. */
export type Choice<K extends SubscriptionKind> =
  | {
      readonly type: 'give';
      readonly given: ReadonlyMap<string, K['resource']>;
      readonly removed: readonly string[];
      /** Names that this answer leaves unanswered. */
      readonly unanswered: readonly string[];
      /** Whether there is nothing left to send once the client has it. */
      readonly leaves: 'nothing' | 'more';
    }
  /** The client already has everything that changed: it had these versions when it connected. */
  | { readonly type: 'has' }
  | { readonly type: 'nothing' }
  | { readonly type: 'wait'; readonly waitsFor: K['reason'] | undefined };

/** An answer before it is written, and what the client has once it ACKs. */
export interface ChosenAnswer<K extends SubscriptionKind> {
  readonly given: ReadonlyMap<string, K['resource']>;
  readonly removed: readonly string[];
  readonly unanswered: readonly string[];
  readonly leaves: 'nothing' | 'more';
  readonly clientResources: ReadonlyMap<string, ClientResource<K>>;
}

/** An answer that is written. */
export interface WrittenAnswer<K extends SubscriptionKind> {
  readonly nonce: string;
  readonly note: K['note'];
  readonly message: K['message'];
}

/** The differences between the users of the machine. All functions are pure. */
export interface SubscriptionPolicy<K extends SubscriptionKind> {
  /** Whether a client can request all resources, and how. */
  readonly wildcard: 'never' | 'by asterisk' | 'by naming nothing';
  /** Whether the names of a state-of-the-world request with an older nonce count. */
  readonly staleNames: 'taken' | 'ignored in flight' | 'ignored';
  /** Whether a NACKed resource is sent again when it changes, or when any resource changes. */
  readonly holdsBack: 'each' | 'whole';
  readonly had: (name: string, version: string) => K['had'];
  /** Returns the resources of a client that connects with a version; undefined if unknown. */
  readonly hadAll?: (
    version: string,
    source: K['source'],
  ) => ReadonlyMap<string, ClientResource<K>> | undefined;
  /** Returns the names whose previous resource the client keeps after its NACK. */
  readonly blamed: (inFlight: AnswerInFlight<K>, reason: string) => readonly string[];
  readonly isSame: (clientResource: ClientResource<K>, resource: K['resource']) => boolean;
  readonly isSameSource: (a: K['source'], b: K['source']) => boolean;
  readonly resourcesOf: (
    source: K['source'],
    subscription: TypeSubscription<K>,
  ) => ReadonlyMap<string, K['resource']>;
  /** Returns a name as the source has it, so that thousands of clients share one string. */
  readonly sharedName?: (name: string, source: K['source']) => string;
  /** Returns all names that differ between two sources; undefined to compare all of them. */
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

/** An event of a subscription. */
export type SubscriptionEvent<K extends SubscriptionKind> =
  /** A request of the client; `source` is the newest one. */
  | {
      readonly type: 'request';
      readonly request: Pick<EnvoyRequest, 'nonce' | 'refusal' | 'names'>;
      readonly source: K['source'] | undefined;
    }
  /** There may be something to send. */
  | { readonly type: 'offer'; readonly source: K['source']; readonly context: K['context'] }
  /** The resources with these names must be sent to the client again. */
  | { readonly type: 'again'; readonly names: Iterable<string> };

/** An effect of an event. */
export type SubscriptionEffect<K extends SubscriptionKind> =
  /** The client wants other names than before, or sent its first request. */
  | { readonly type: 'asked' }
  | { readonly type: 'accepted'; readonly answer: AnswerInFlight<K> }
  | {
      readonly type: 'rejected';
      readonly answer: AnswerInFlight<K>;
      readonly blamed: readonly string[];
      readonly refusal: ErrorDetail;
    }
  | { readonly type: 'answer'; readonly message: K['message'] }
  /** Nothing is sent, for this reason; undefined if there is nothing to send. */
  | {
      readonly type: 'unsent';
      readonly waitsFor: K['reason'] | 'in flight' | 'NACKed' | undefined;
    };
