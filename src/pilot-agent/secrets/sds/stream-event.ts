import type { VersionedSecret } from '../secret.ts';
import type { EnvoyRequest } from '../../../shared/xds/messages.ts';

/** One request on a stream, of either variant of the protocol. */
export interface StreamRequest extends Pick<EnvoyRequest, 'nonce' | 'names'> {
  /** Empty where the request does not say; only the first one of a stream has to. */
  readonly node: string;
  /** Why that answer is refused; undefined where it is not. */
  readonly error: string | undefined;
}

/**
 * What happens on a stream; what it tells its surroundings is an event too, and changes nothing.
 */
export type StreamEvent =
  | { readonly type: 'request'; readonly request: StreamRequest }
  | ({ readonly type: 'secret'; readonly name: string } & VersionedSecret)
  | StreamOutput;

/**
 * What goes out to the client or the log: an effect, or a name for which there is nothing, with the
 * reason.
 */
export type StreamOutput =
  | Exclude<StreamEffect, { readonly type: 'watch' | 'unwatch' }>
  | { readonly type: 'missing'; readonly name: string; readonly reason: string };

/** An answer: the secrets that the client does not have, by name. */
export interface SdsPush {
  readonly nonce: string;
  /** Of the whole answer. */
  readonly version: string;
  readonly secrets: ReadonlyMap<string, VersionedSecret>;
}

/** What is sent to the client. */
export type StreamAnswer =
  | { readonly type: 'push'; readonly push: SdsPush }
  /** An answer that there is none of these names, so that the client goes on without. */
  | { readonly type: 'decline'; readonly nonce: string; readonly names: readonly string[] };

/** What is to be done about it. */
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
