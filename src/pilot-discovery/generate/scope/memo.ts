// Why: docs/decisions/072-memos-count-their-holders.md
/** What makes a value: objects stand for their content by identity, the text for all else. */
export type MemoTable<T> = (objects: readonly object[], text: string, make: () => T) => T;

interface Branch<E> {
  readonly below: WeakMap<object, Branch<E>>;
  readonly made: Map<string, E>;
}

/** A value in a table, and how many hold it: classes of proxies, and what is made of it. */
interface Entry<T> {
  readonly value: T;
  holders: number;
  readonly forget: () => void;
}

type Made = Pick<Entry<unknown>, 'holders' | 'forget'>;

/** What of the tables was used to make something; each once. Thousands are kept of these. */
export type Uses = readonly Made[];

const noUses: Uses = [];

/** What is being made now, the innermost last. */
const making: Set<Made>[] = [];

/**
 * A table of what was made before: of the same objects and an equal text it gives the same value.
 * It holds none of the objects; with any one of them what was made of it is forgotten. So is what
 * somebody has held, and nobody holds any more.
 */
export function memoTable<T>(): MemoTable<T> {
  const root = branch<Entry<T>>();
  return (objects, text, make) => {
    const { made } = under(root, objects);
    const entry = made.get(text) ?? entryOf(made, text, make);
    making.at(-1)?.add(entry);
    return entry.value;
  };
}

const branch = <E>(): Branch<E> => ({ below: new WeakMap(), made: new Map() });

function under<E>(root: Branch<E>, objects: readonly object[]): Branch<E> {
  return objects.reduce<Branch<E>>((at, object) => {
    const known = at.below.get(object);
    if (known !== undefined) return known;
    const fresh = branch<E>();
    at.below.set(object, fresh);
    return fresh;
  }, root);
}

function entryOf<T>(made: Map<string, Entry<T>>, text: string, make: () => T): Entry<T> {
  const [value, uses] = withUses(make);
  hold(uses);
  const forget = (): void => {
    made.delete(text);
    release(uses);
  };
  const entry: Entry<T> = { value, holders: 0, forget };
  made.set(text, entry);
  return entry;
}

/** What was made last, and the sources of which. */
export interface Derived<S extends readonly object[], T> {
  readonly sources: S;
  readonly value: T;
}

interface Last<S extends readonly object[], T> extends Made {
  derived: Derived<S, T>;
}

/**
 * A table like {@link memoTable} of which each value is made from the one before, and from what
 * differs between the sources of both. Only the last one is remembered.
 *
 * @param derive must come to what it would come to without the one before
 * @param forget is called with a value that is remembered no longer
 */
export function derivedTable<S extends readonly object[], T, I>(
  derive: (before: Derived<S, T> | undefined, sources: S, inputs: I) => T,
  forget: (value: T) => void,
): (objects: readonly object[], text: string, sources: S, inputs: I) => T {
  const root = branch<Last<S, T>>();
  return (objects, text, sources, inputs) => {
    const { made } = under(root, objects);
    const known = made.get(text);
    if (known !== undefined) {
      making.at(-1)?.add(known);
      if (isSame(known.derived.sources, sources)) return known.derived.value;
    }
    const value = derive(known?.derived, sources, inputs);
    if (known !== undefined) {
      known.derived = { sources, value };
      return value;
    }
    const last: Last<S, T> = {
      derived: { sources, value },
      holders: 0,
      forget: () => {
        made.delete(text);
        forget(last.derived.value);
      },
    };
    made.set(text, last);
    making.at(-1)?.add(last);
    return value;
  };
}

/**
 * Lists of an owner that are equal, one by one, are the same list: the last one that it had.
 * The owner is not kept.
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

/** Whether two lists have the same values, one by one. */
export const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index]);

/** Makes something, and says what of the tables was used for it. */
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

/** Keeps what was used until it is released. */
export function hold(uses: Uses): void {
  for (const made of uses) made.holders += 1;
}

/** Forgets what was used, unless somebody else holds it. */
export function release(uses: Uses): void {
  for (const made of uses) {
    made.holders -= 1;
    if (made.holders === 0) made.forget();
  }
}
