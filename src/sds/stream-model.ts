import type { Secret } from '../secrets/secret.ts';

/** A secret and the version that names its content. */
export interface VersionedSecret {
  readonly secret: Secret;
  readonly version: string;
}

/** One request on a stream, of either variant of the protocol. */
export interface StreamRequest {
  /** Empty where the request does not say; only the first one of a stream has to. */
  readonly node: string;
  /** The answer that it answers; empty where it answers none. */
  readonly nonce: string;
  /** Why that answer is refused; undefined where it is not. */
  readonly error: string | undefined;
  /** All names that are wanted from now on; or those that come and go, with the versions that the client has already. */
  readonly names:
    | { readonly kind: 'all'; readonly names: readonly string[]; readonly version: string }
    | {
        readonly kind: 'change';
        readonly add: readonly string[];
        readonly remove: readonly string[];
        readonly versions: Readonly<Record<string, string>>;
      };
}

/** What happens on a stream. */
export type StreamEvent =
  { readonly type: 'request'; readonly request: StreamRequest } | ({ readonly type: 'secret'; readonly name: string } & VersionedSecret);

/** An answer: the secrets that the client does not have, by name. */
export interface Push {
  readonly nonce: string;
  /** Of the whole answer. */
  readonly version: string;
  readonly secrets: ReadonlyMap<string, VersionedSecret>;
}

/** What is to be done about it. */
export type StreamEffect =
  | { readonly type: 'watch'; readonly name: string }
  | { readonly type: 'unwatch'; readonly name: string }
  | { readonly type: 'push'; readonly push: Push }
  | { readonly type: 'accepted'; readonly versions: ReadonlyMap<string, string> }
  | { readonly type: 'rejected'; readonly versions: ReadonlyMap<string, string>; readonly reason: string }
  | { readonly type: 'end'; readonly reason: string };

export interface StreamState {
  /** Node id of the client; empty until it has said it. */
  readonly node: string;
  /** Name → version that the client was given last, or had from the start. */
  readonly subscribed: ReadonlyMap<string, string | undefined>;
  readonly newest: ReadonlyMap<string, VersionedSecret>;
  /** The push that is not answered yet. There is one at most, and what is newer waits for its answer. */
  readonly inFlight: { readonly nonce: string; readonly versions: ReadonlyMap<string, string> } | undefined;
  /** Pushes so far; the nonce is their number. */
  readonly pushes: number;
  /** What the client of a state-of-the-world stream said to have when it came. */
  readonly claimed: string;
}
