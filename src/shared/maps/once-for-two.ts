/**
 * Returns a function that computes its result once for two objects, and keeps it while both exist.
 * The objects must not change.
 */
export function onceForTwo<A extends object, T extends object>(
  look: (before: A, after: A) => T,
): (before: A, after: A) => T {
  const table = new WeakMap<A, WeakMap<A, T>>();
  return (before, after) => {
    const ofAfter = table.get(after) ?? new WeakMap<A, T>();
    table.set(after, ofAfter);
    const result = ofAfter.get(before) ?? look(before, after);
    ofAfter.set(before, result);
    return result;
  };
}
