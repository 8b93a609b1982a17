import type { MeshConfig } from '../istio/mesh-config.ts';
import type { AnyResource, Flaw, ResourceKey } from '../istio/model.ts';
import type { FetchedKeys } from './fetched-keys.ts';

/**
 * What a source tells. Many changes that a source reads at once are one event, so that a folder of
 * 10,000 resources costs one copy.
 */
export type StoreEvent =
  | {
      readonly type: 'changed';
      readonly source: string;
      readonly upserts: readonly AnyResource[];
      readonly removes: readonly ResourceKey[];
    }
  /** What is wrong in a source by now: all of its flaws, instead of those before. */
  | { readonly type: 'flaws'; readonly source: string; readonly flaws: readonly Flaw[] }
  | { readonly type: 'mesh'; readonly mesh: MeshConfig }
  /** The keys of issuers by now. */
  | { readonly type: 'fetched-keys'; readonly source: string; readonly keys: FetchedKeys }
  /** All that a source has had at the start has been told. */
  | { readonly type: 'synced'; readonly source: string }
  /** Removals that are held back by now: they take too much away at once. Empty if none is. */
  | { readonly type: 'held'; readonly source: string; readonly removes: readonly ResourceKey[] }
  /** It cannot be asked. What it has told stays. */
  | { readonly type: 'lost'; readonly source: string; readonly reason: string };
