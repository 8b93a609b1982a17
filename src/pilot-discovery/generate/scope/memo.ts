// Why: docs/decisions/072-memos-count-their-holders.md
/**
 * Returns the value for its inputs: objects, which are compared by identity, and a text for all
 * other inputs.
 */
export type MemoTable<T> = (objects: readonly object[], text: string, make: () => T) => T;

interface Branch<E> {
  readonly below: WeakMap<object, Branch<E>>;
  readonly entries: Map<string, E>;
}

/**
 * A value in a table, and the number of its holders: classes of proxies, and values made from it.
 */
interface Entry<T> {
  readonly value: T;
  holders: number;
  readonly forget: () => void;
}

type Made = Pick<Entry<unknown>, 'holders' | 'forget'>;

/** The entries that were used to make a value, each once. Thousands of these lists are kept. */
export type Uses = readonly Made[];

const noUses: Uses = [];

/** The entries used by each value that is being made, the innermost value last. */
const making: Set<Made>[] = [];

/**
 * Returns a table of values made before: the same objects and an equal text give the same value. It
 * does not keep the objects: a value is dropped with any one of its objects. It is also dropped
 * when its last holder releases it.
 */
export function memoTable<T>(): MemoTable<T> {
  const root = branch<Entry<T>>();
  return (objects, text, make) => {
    const { entries } = under(root, objects);
    const entry = entries.get(text) ?? entryOf(entries, text, make);
    making.at(-1)?.add(entry);
    return entry.value;
  };
}

const branch = <E>(): Branch<E> => ({ below: new WeakMap(), entries: new Map() });

function under<E>(root: Branch<E>, objects: readonly object[]): Branch<E> {
  return objects.reduce<Branch<E>>((parent, object) => {
    const child = parent.below.get(object);
    if (child !== undefined) return child;
    const newChild = branch<E>();
    parent.below.set(object, newChild);
    return newChild;
  }, root);
}

function entryOf<T>(entries: Map<string, Entry<T>>, text: string, make: () => T): Entry<T> {
  const [value, uses] = withUses(make);
  hold(uses);
  const forget = (): void => {
    entries.delete(text);
    release(uses);
  };
  const entry: Entry<T> = { value, holders: 0, forget };
  entries.set(text, entry);
  return entry;
}

/** The last value, and the sources from which it was made. */
export interface Derived<S extends readonly object[], T> {
  readonly sources: S;
  readonly value: T;
}

interface Last<S extends readonly object[], T> extends Made {
  derived: Derived<S, T>;
}

/**
 * Returns a table like {@link memoTable} that makes each value from the previous one, and from the
 * differences between their sources. Only the last value is kept.
 *
 * @param derive must return what it would return without the value before
 * @param forget is called with a value that is dropped
 */
export function derivedTable<S extends readonly object[], T, I>(
  derive: (before: Derived<S, T> | undefined, sources: S, inputs: I) => T,
  forget: (value: T) => void,
): (objects: readonly object[], text: string, sources: S, inputs: I) => T {
  const root = branch<Last<S, T>>();
  return (objects, text, sources, inputs) => {
    const { entries } = under(root, objects);
    const entry = entries.get(text);
    if (entry !== undefined) {
      making.at(-1)?.add(entry);
      if (isSame(entry.derived.sources, sources)) return entry.derived.value;
    }
    const value = derive(entry?.derived, sources, inputs);
    if (entry !== undefined) {
      entry.derived = { sources, value };
      return value;
    }
    const last: Last<S, T> = {
      derived: { sources, value },
      holders: 0,
      forget: () => {
        entries.delete(text);
        forget(last.derived.value);
      },
    };
    entries.set(text, last);
    making.at(-1)?.add(last);
    return value;
  };
}

/**
 * Returns the last list of an owner if a new one is equal to it, one by one. The owner is not kept.
 */
export function steadyLists<T>(): (owner: object, list: readonly T[]) => readonly T[] {
  const last = new WeakMap<object, readonly T[]>();
  return (owner, list) => {
    const before = last.get(owner);
    if (before !== undefined && isSame(before, list)) return before;
    last.set(owner, list);
    return list;
  };
}

/** Returns whether two lists have the same values, one by one. */
export const isSame = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((value, index) => value === right[index]);

/** Makes a value, and returns it with the entries that were used for it. */
export function withUses<T>(make: () => T): readonly [T, Uses] {
  const uses = new Set<Made>();
  making.push(uses);
  try {
    const value = make();
    return [value, uses.size === 0 ? noUses : [...uses]];
  } finally {
    making.pop();
  }
}

/** Keeps entries until they are released. */
export function hold(uses: Uses): void {
  for (const entry of uses) entry.holders += 1;
}

/** Drops entries, unless they have another holder. */
export function release(uses: Uses): void {
  for (const entry of uses) {
    entry.holders -= 1;
    if (entry.holders === 0) entry.forget();
  }
}
