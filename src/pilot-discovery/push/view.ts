import { typeUrls as allTypeUrls } from '../../shared/xds/resources.ts';
import type { ResourceKey } from '../istio/model.ts';

/** The types of the aggregated discovery service, in the order in which they are sent. */
export const xdsTypes = ['cluster', 'endpoint', 'listener', 'route'] as const;

export type XdsType = (typeof xdsTypes)[number];

export const typeUrls: Readonly<Record<XdsType, string>> = {
  cluster: allTypeUrls.clusters,
  endpoint: allTypeUrls.endpoints,
  listener: allTypeUrls.listeners,
  route: allTypeUrls.routes,
};

/** One resource of Envoy, encoded once. Equal content has an equal version. */
export interface XdsResource {
  readonly name: string;
  /** A hash of `body`. */
  readonly version: string;
  /** The encoded message, as the value of an Any. */
  readonly body: Uint8Array;
  /** What it is made of: who is blamed where Envoy refuses it. */
  readonly keys: readonly ResourceKey[];
}

/** All resources of one type that one class of proxies may have. Immutable. */
export interface TypedView {
  /** A hash of names and versions; equal content, equal version. */
  readonly version: string;
  readonly resources: ReadonlyMap<string, XdsResource>;
}

/**
 * What one proxy may have, in one snapshot. A part that is equal for two proxies, or in two
 * snapshots, is the same object: what is made of it may be kept by its identity.
 */
export interface View extends Readonly<Record<XdsType, TypedView>> {
  /** The number of the snapshot; a newer one is greater. */
  readonly snapshot: number;
}

const differences = new WeakMap<TypedView, WeakMap<TypedView, readonly string[]>>();

/** The names of what has come, gone or changed from one view to another; once for all proxies. */
export function changedNames(before: TypedView, after: TypedView): readonly string[] {
  const known = differences.get(after) ?? new WeakMap<TypedView, readonly string[]>();
  differences.set(after, known);
  const found = known.get(before);
  if (found !== undefined) return found;
  const changed = [...after.resources.values()].filter(
    ({ name, version }) => before.resources.get(name)?.version !== version,
  );
  const names = [
    ...changed.map(({ name }) => name),
    ...[...before.resources.keys()].filter((name) => !after.resources.has(name)),
  ];
  known.set(before, names);
  return names;
}
