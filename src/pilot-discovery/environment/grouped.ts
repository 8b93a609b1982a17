import type { SortedMap } from '../../shared/maps/sorted-map.ts';
import type { Kind, Resource, ResourceKey } from '../istio/documents/model.ts';
import type { Touched } from './touched.ts';

/**
 * Replaces entries in lists by name. Removes the entries for which `isOld` is true from the lists
 * of `groups`, and adds the new ones, in the order of `compare`. A list without changes is the same
 * object, and so is the map.
 */
export function regrouped<T>(
  before: SortedMap<readonly T[]>,
  groups: Iterable<string>,
  isOld: (entry: T) => boolean,
  added: ReadonlyMap<string, readonly T[]>,
  compare: (a: T, b: T) => number,
): SortedMap<readonly T[]> {
  const edits = [...new Set([...groups, ...added.keys()])].map((group) => {
    const old = before.get(group) ?? [];
    const now = [...old.filter((entry) => !isOld(entry)), ...(added.get(group) ?? [])].sort(
      compare,
    );
    const isSame = now.length === old.length && now.every((entry, index) => entry === old[index]);
    return [group, now.length === 0 ? undefined : isSame ? old : now] as const;
  });
  return before.with(edits);
}

/** Returns entries by name. */
export function groupedBy<T>(
  entries: Iterable<T>,
  nameOf: (entry: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const list = groups.get(nameOf(entry));
    if (list === undefined) groups.set(nameOf(entry), [entry]);
    else list.push(entry);
  }
  return groups;
}

/** An index that finds each entry by several texts: {@link indexKey} makes the names. */
export type Index<T> = SortedMap<T>;

/** Returns the name of an entry in an index: the texts by which it is found, then its own name. */
export const indexKey = (...texts: readonly string[]): string => JSON.stringify(texts);

/** Yields the entries that are found by the texts, in order of the names. */
export function* entriesBy<T>(
  index: Index<T>,
  ...texts: readonly string[]
): Generator<T, undefined> {
  for (const [, entry] of index.withPrefix(`${indexKey(...texts).slice(0, -1)},`)) yield entry;
}

/**
 * Returns the index after changes of resources. A resource has one entry for each list of texts.
 */
export function reindexed<K extends Kind>(
  before: Index<Resource<K>>,
  touched: readonly Touched<K>[],
  textsOf: (resource: Resource<K>) => readonly (readonly string[])[],
): Index<Resource<K>> {
  if (touched.length === 0) return before;
  const edits = new Map<string, Resource<K> | undefined>();
  const names = (key: ResourceKey, resource: Resource<K> | undefined) =>
    resource === undefined ? [] : textsOf(resource).map((texts) => indexKey(...texts, key));
  for (const { key, before: old } of touched)
    for (const name of names(key, old)) edits.set(name, undefined);
  for (const { key, after } of touched)
    for (const name of names(key, after)) edits.set(name, after);
  return before.with(edits);
}
