import type { AnyResource, Kind, Resource, ResourceKey } from '../istio/documents/model.ts';
import { partsOf, resourceAt, type Resources } from './resources.ts';

/** A resource that was added, removed or changed. */
export interface Touched<K extends Kind = Kind> {
  readonly key: ResourceKey;
  readonly before: Resource<K> | undefined;
  readonly after: Resource<K> | undefined;
}

/** The changes of resources, by kind. */
export type TouchedByKind = ReadonlyMap<Kind, readonly Touched[]>;

/**
 * Returns the changes of keys between two states of the resources, without those that are equal.
 */
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

/** Returns the changes of one kind. */
export function touchedOf<K extends Kind>(touched: TouchedByKind, kind: K): readonly Touched<K>[] {
  return (touched.get(kind) ?? []) as readonly AnyTouched[] as readonly Touched<K>[];
}

/** Returns the changes of some kinds, one kind after the other. */
export function touchedAmong(
  touched: TouchedByKind,
  kinds: readonly Kind[],
): readonly AnyTouched[] {
  return kinds.flatMap((kind) => (touched.get(kind) ?? []) as readonly AnyTouched[]);
}

/** A change whose resource can be distinguished by its kind. */
export type AnyTouched = {
  readonly [P in keyof Touched]: P extends 'key' ? ResourceKey : AnyResource | undefined;
};
