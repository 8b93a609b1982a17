import type { VersionedSecret } from '../secret.ts';
import type { EnvoyRequest } from '../../../shared/xds/messages.ts';

/** One request on a stream, of either variant of the protocol. */
export interface StreamRequest extends Pick<EnvoyRequest, 'nonce' | 'names'> {
  /**
   * The node id; empty if the request has none. Only the first request of a stream must have it.
   */
  readonly node: string;
  /** Why the client NACKs the answer; undefined if it does not. */
  readonly error: string | undefined;
}

/** An event of a stream. An output is an event too, and changes nothing. */
export type StreamEvent =
  | { readonly type: 'request'; readonly request: StreamRequest }
  | ({ readonly type: 'secret'; readonly name: string } & VersionedSecret)
  | StreamOutput;

/** An output to the client or the log: an effect, or a name without a secret, with the reason. */
export type StreamOutput =
  | Exclude<StreamEffect, { readonly type: 'watch' | 'unwatch' }>
  | { readonly type: 'missing'; readonly name: string; readonly reason: string };

/** An answer: the secrets that the client does not have, by name. */
export interface SdsPush {
  readonly nonce: string;
  /** The version of the whole answer. */
  readonly version: string;
  readonly secrets: ReadonlyMap<string, VersionedSecret>;
}

/** A message to the client. */
export type StreamAnswer =
  | { readonly type: 'push'; readonly push: SdsPush }
  /** An answer that these names have no secrets, so that the client goes on without them. */
  | { readonly type: 'decline'; readonly nonce: string; readonly names: readonly string[] };

/** An effect of an event. */
export type StreamEffect =
  | { readonly type: 'watch'; readonly name: string }
  | { readonly type: 'unwatch'; readonly name: string }
  | StreamAnswer
  | { readonly type: 'accepted'; readonly versions: ReadonlyMap<string, string> }
  | {
      readonly type: 'rejected';
      readonly versions: ReadonlyMap<string, string>;
      readonly reason: string;
    }
  | { readonly type: 'end'; readonly reason: string };
