import { onceForTwo } from '../../shared/maps/once-for-two.ts';
import { changedKeys, SortedMap } from '../../shared/maps/sorted-map.ts';
import { typeUrls as allTypeUrls } from '../../shared/xds/resources.ts';
import type { ResourceKey } from '../istio/documents/model.ts';

/** The types of the aggregated discovery service, in the order in which they are sent. */
export const xdsTypes = ['cluster', 'endpoint', 'listener', 'route'] as const;

export type XdsType = (typeof xdsTypes)[number];

export const typeUrls: Readonly<Record<XdsType, string>> = {
  cluster: allTypeUrls.clusters,
  endpoint: allTypeUrls.endpoints,
  listener: allTypeUrls.listeners,
  route: allTypeUrls.routes,
};

/** One resource of a client, encoded once. Equal content has an equal version. */
export interface XdsResource {
  readonly name: string;
  /** A hash of `body`. */
  readonly version: string;
  /** The encoded message, as the value of an Any. */
  readonly body: Uint8Array;
  /** The type URL of `body`, if it is not that of the answer. */
  readonly bodyType?: string;
  /** The resources it is made from: they are blamed if Envoy NACKs it. */
  readonly keys: readonly ResourceKey[];
}

/** All resources of one type that one class of proxies may have. Immutable. */
export interface TypedView {
  /** A hash of names and versions: equal content has an equal version. */
  readonly version: string;
  readonly resources: ReadonlyMap<string, XdsResource>;
}

/** The part of a view that a comparison of two views reads. */
export interface VersionedView {
  readonly resources: ReadonlyMap<string, Pick<XdsResource, 'version'>>;
}

/**
 * The resources that one proxy may have, in one snapshot. Parts that are equal for two proxies, or
 * in two snapshots, are the same object, so a result can be cached by the identity of a part.
 */
export interface View extends Readonly<Record<XdsType, TypedView>> {
  /** The number of the snapshot; a newer one is greater. */
  readonly snapshot: number;
}

/**
 * Returns the names that were added, removed or changed from one view to another; computes them
 * once for all proxies.
 */
export const changedNames: (before: VersionedView, after: VersionedView) => readonly string[] =
  onceForTwo((before, after) => namesThatDiffer(before.resources, after.resources));

type Versions = VersionedView['resources'];

const isSorted = (resources: Versions): resources is SortedMap<Pick<XdsResource, 'version'>> =>
  resources instanceof SortedMap;

function namesThatDiffer(before: Versions, after: Versions): readonly string[] {
  const isOther = (name: string) => before.get(name)?.version !== after.get(name)?.version;
  if (isSorted(before) && isSorted(after)) return changedKeys(before, after).filter(isOther);
  const gone = [...before.keys()].filter((name) => !after.has(name));
  return [...[...after.keys()].filter(isOther), ...gone];
}
