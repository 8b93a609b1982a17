import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { ResourceKey } from '../istio/documents/model.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import type { Unsent } from './unsent.ts';

/** The connection of an event, by its number. Numbers count up. */
interface OfConnection {
  readonly connection: number;
}

interface OfAnswer extends OfConnection {
  readonly typeUrl: string;
  readonly nonce: string;
  /** The number of the snapshot from which the answer was made. */
  readonly snapshot: number;
}

/** An event between the control plane and its proxies. */
export type AdsEvent =
  /** The first request of a proxy, with its node. */
  | (OfConnection & {
      readonly type: 'connected';
      readonly node: Node;
      readonly variant: Variant;
      readonly address: string;
    })
  | (OfConnection & { readonly type: 'disconnected' })
  /** A stream was ended, since nothing can be answered on it. */
  | (OfConnection & {
      readonly type: 'stream-refused';
      readonly address: string;
      readonly reason: string;
    })
  /** A stream was ended, because its proxy does not read what is written. */
  | (OfConnection & {
      readonly type: 'reads-nothing';
      readonly address: string;
      readonly reason: string;
    })
  /**
   * A proxy subscribes to a type, or changes its names. `names` are all that it now subscribes to;
   * empty for all.
   */
  | (OfConnection & {
      readonly type: 'asked';
      readonly typeUrl: string;
      readonly names: ReadonlySet<string>;
    })
  | (OfAnswer & {
      readonly type: 'answered';
      readonly version: string;
      readonly resources: number;
    })
  /** How long an answer waited for its turn, and how long its writing took. */
  | (OfConnection & {
      readonly type: 'written';
      readonly typeUrl: string;
      readonly bytes: number;
      readonly queuedMs: number;
      readonly writingMs: number;
    })
  /**
   * A change is not sent to a proxy, for another reason than before; or nothing is left to send.
   */
  | (OfConnection & {
      readonly type: 'unsent';
      readonly typeUrl: string;
      readonly waitsFor: Unsent | undefined;
    })
  | (OfAnswer & { readonly type: 'accepted' })
  | (Omit<OfAnswer, 'snapshot'> & {
      readonly type: 'rejected';
      readonly reason: string;
      /** The resources of Envoy that are blamed, and the resources they were made from. */
      readonly names: readonly string[];
      readonly keys: readonly ResourceKey[];
    })
  /** A proxy names secrets that it may not have. */
  | (OfConnection & {
      readonly type: 'secrets-refused';
      readonly address: string;
      readonly reason: string;
    })
  | (OfConnection & { readonly type: 'unknown-type'; readonly typeUrl: string });
