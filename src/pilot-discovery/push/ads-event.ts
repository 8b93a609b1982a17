import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { ResourceKey } from '../istio/model.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import type { Unsent } from './unsent.ts';

/** What an event is of: the number of the connection counts up. */
interface OfConnection {
  readonly connection: number;
}

interface OfAnswer extends OfConnection {
  readonly typeUrl: string;
  readonly nonce: string;
  /** The number of the snapshot that the answer is of. */
  readonly snapshot: number;
}

/** What happens between the control plane and its proxies. */
export type AdsEvent =
  /** A proxy has said who it is. */
  | (OfConnection & {
      readonly type: 'connected';
      readonly node: Node;
      readonly variant: Variant;
      readonly address: string;
    })
  | (OfConnection & { readonly type: 'disconnected' })
  /** A stream is ended, since nothing can be answered on it. */
  | (OfConnection & {
      readonly type: 'stream-refused';
      readonly address: string;
      readonly reason: string;
    })
  /** A proxy asks for a type, or for other names: those that it follows by now; empty for all. */
  | (OfConnection & {
      readonly type: 'asked';
      readonly typeUrl: string;
      readonly names: ReadonlySet<string>;
    })
  | (OfAnswer & {
      readonly type: 'answered';
      readonly version: string;
      readonly resources: number;
      readonly bytes: number;
    })
  /** How long an answer has waited for its turn, and how long its writing took. */
  | (OfConnection & {
      readonly type: 'written';
      readonly queuedMs: number;
      readonly writingMs: number;
    })
  /** A proxy is not sent what has changed, for another reason than before; or nothing is left. */
  | (OfConnection & {
      readonly type: 'unsent';
      readonly typeUrl: string;
      readonly waitsFor: Unsent | undefined;
    })
  | (OfAnswer & { readonly type: 'accepted' })
  | (Omit<OfAnswer, 'snapshot'> & {
      readonly type: 'rejected';
      readonly reason: string;
      /** The resources of Envoy that are to blame, and what they are made of. */
      readonly names: readonly string[];
      readonly keys: readonly ResourceKey[];
    })
  | (OfConnection & { readonly type: 'unknown-type'; readonly typeUrl: string });
