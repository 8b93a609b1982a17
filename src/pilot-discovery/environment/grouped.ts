import { byText } from './age.ts';

/**
 * Lists by name in which some entries are others now: those that `isOld` tells are taken out of the
 * lists of `groups`, and the new ones put in, in the order of `compare`. A list that stays as it is
 * is the same object, and so is the map. The map is in order of names.
 */
export function regrouped<T>(
  before: ReadonlyMap<string, readonly T[]>,
  groups: Iterable<string>,
  isOld: (entry: T) => boolean,
  added: ReadonlyMap<string, readonly T[]>,
  compare: (a: T, b: T) => number,
): ReadonlyMap<string, readonly T[]> {
  const after = new Map(before);
  let isSame = true;
  for (const group of new Set([...groups, ...added.keys()])) {
    const old = before.get(group) ?? [];
    const now = [...old.filter((entry) => !isOld(entry)), ...(added.get(group) ?? [])].sort(
      compare,
    );
    if (now.length === old.length && now.every((entry, index) => entry === old[index])) continue;
    isSame = false;
    if (now.length === 0) after.delete(group);
    else after.set(group, now);
  }
  return isSame ? before : inOrder(before, after);
}

/** The map in order of names, as the one was that it was made of. */
export function inOrder<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): ReadonlyMap<string, V> {
  for (const name of after.keys())
    if (!before.has(name)) return new Map([...after].sort(([a], [b]) => byText(a, b)));
  return after;
}

/** Entries by name. */
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
