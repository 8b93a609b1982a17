import type { AnyResource, Kind, Resource, ResourceKey } from '../istio/model.ts';
import { partsOf, resourceAt, type Resources } from './resources.ts';

/** A resource that has come, gone, or become another. */
export interface Touched<K extends Kind = Kind> {
  readonly key: ResourceKey;
  readonly before: Resource<K> | undefined;
  readonly after: Resource<K> | undefined;
}

/** What has become of resources, by kind. */
export type TouchedByKind = ReadonlyMap<Kind, readonly Touched[]>;

/** What has become of keys from one state of the resources to another; not of those that stayed. */
export function touchedBetween(
  before: Resources,
  after: Resources,
  keys: Iterable<ResourceKey>,
): TouchedByKind {
  const touched = new Map<Kind, Touched[]>();
  for (const key of keys) {
    const [old, now] = [resourceAt(before, key), resourceAt(after, key)];
    if (old === now) continue;
    const { kind } = partsOf(key);
    const list = touched.get(kind);
    if (list === undefined) touched.set(kind, [{ key, before: old, after: now }]);
    else list.push({ key, before: old, after: now });
  }
  return touched;
}

/** Those of one kind. */
export function touchedOf<K extends Kind>(touched: TouchedByKind, kind: K): readonly Touched<K>[] {
  return (touched.get(kind) ?? []) as readonly AnyTouched[] as readonly Touched<K>[];
}

/** Those of some kinds, one kind after the other. */
export function touchedAmong(
  touched: TouchedByKind,
  kinds: readonly Kind[],
): readonly AnyTouched[] {
  return kinds.flatMap((kind) => (touched.get(kind) ?? []) as readonly AnyTouched[]);
}

/** One whose resource is told apart by its kind. */
export type AnyTouched = {
  readonly [P in keyof Touched]: P extends 'key' ? ResourceKey : AnyResource | undefined;
};
