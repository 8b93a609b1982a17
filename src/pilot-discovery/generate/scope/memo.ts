/** What makes a value: objects stand for their content by identity, the text for all else. */
export type MemoTable<T> = (objects: readonly object[], text: string, make: () => T) => T;

interface Branch<T> {
  readonly below: WeakMap<object, Branch<T>>;
  readonly made: Map<string, Entry<T>>;
}

/** A value in a table, and how many hold it: classes of proxies, and what is made of it. */
class Entry<T> {
  holders = 0;
  readonly value: T;
  readonly #made: Map<string, Entry<T>>;
  readonly #text: string;
  readonly #uses: Uses;

  constructor(value: T, made: Map<string, Entry<T>>, text: string, uses: Uses) {
    [this.value, this.#made, this.#text, this.#uses] = [value, made, text, uses];
  }

  forget(): void {
    this.#made.delete(this.#text);
    release(this.#uses);
  }
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
  const root = branch<T>();
  return (objects, text, make) => {
    let at = root;
    for (const object of objects) {
      const next = at.below.get(object) ?? branch<T>();
      at.below.set(object, next);
      at = next;
    }
    const entry = at.made.get(text) ?? entryOf(at.made, text, make);
    making.at(-1)?.add(entry);
    return entry.value;
  };
}

const branch = <T>(): Branch<T> => ({ below: new WeakMap(), made: new Map() });

function entryOf<T>(made: Map<string, Entry<T>>, text: string, make: () => T): Entry<T> {
  const [value, uses] = withUses(make);
  hold(uses);
  const entry = new Entry(value, made, text, uses);
  made.set(text, entry);
  return entry;
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
