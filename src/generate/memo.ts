/** What makes a value: objects stand for their content by identity, the text for all else. */
export type MemoTable<T> = (objects: readonly object[], text: string, make: () => T) => T;

interface Branch<T> {
  readonly below: WeakMap<object, Branch<T>>;
  readonly made: Map<string, T>;
}

/**
 * A table of what was made before: of the same objects and an equal text it gives the same value.
 * It holds none of the objects; with any one of them what was made of it is forgotten.
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
    if (at.made.has(text)) return at.made.get(text) as T;
    const value = make();
    at.made.set(text, value);
    return value;
  };
}

const branch = <T>(): Branch<T> => ({ below: new WeakMap(), made: new Map() });
