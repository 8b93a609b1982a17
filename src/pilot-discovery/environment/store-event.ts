import type { MeshConfig } from '../istio/mesh/mesh-config.ts';
import type { MeshNetworks } from '../istio/mesh/mesh-networks.ts';
import type { AnyResource, Flaw, ResourceKey } from '../istio/documents/model.ts';
import type { FetchedKeys } from './fetched-keys.ts';

/**
 * An event of a source. Changes that a source reads at once are one event, so that a folder of
 * 10,000 resources costs one copy.
 */
export type StoreEvent =
  | {
      readonly type: 'changed';
      readonly source: string;
      readonly upserts: readonly AnyResource[];
      readonly removes: readonly ResourceKey[];
    }
  /** All flaws that the source has now. They replace the previous flaws. */
  | { readonly type: 'flaws'; readonly source: string; readonly flaws: readonly Flaw[] }
  | { readonly type: 'mesh'; readonly mesh: MeshConfig }
  | {
      readonly type: 'networks';
      readonly source: string;
      readonly networks: MeshNetworks;
    }
  /** All keys of issuers that the source has now. */
  | { readonly type: 'fetched-keys'; readonly source: string; readonly keys: FetchedKeys }
  /** The source has emitted everything that it had at the start. */
  | { readonly type: 'synced'; readonly source: string }
  /**
   * All removals that are held back now: they would remove too much at once. Empty if there are
   * none.
   */
  | { readonly type: 'held'; readonly source: string; readonly removes: readonly ResourceKey[] }
  /** The source cannot be read. Its resources stay. */
  | { readonly type: 'lost'; readonly source: string; readonly reason: string }
  /**
   * The source still cannot be read, and an earlier `lost` reported the cause. Only the text of the
   * reason is new, for example because it names another kind. This event is not logged.
   */
  | { readonly type: 'still-lost'; readonly source: string; readonly reason: string };
