// Why: docs/decisions/058-a-typo-starts-no-other-proxy.md
/**
 * Whether one edit makes one text of the other: a character is put in, left out or replaced, two
 * neighbours change places, or letters have the other case, however many. Not for equal texts.
 * Pure.
 */
export function isOneEdit(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  if (one.toLowerCase() === other.toLowerCase()) return true;
  let from = 0;
  while (from < one.length && one[from] === other[from]) from += 1;
  const [rest, others] = [one.slice(from), other.slice(from)];
  return (
    rest.slice(1) === others || // one too many
    rest === others.slice(1) || // one too few
    rest.slice(1) === others.slice(1) ||
    (rest.slice(2) === others.slice(2) &&
      rest.startsWith(others.charAt(1)) &&
      others.startsWith(rest.charAt(1)))
  );
}

/**
 * The one of `known` that a name is one edit away from; undefined for none, and for several. Pure.
 */
export function meant(name: string, known: readonly string[]): string | undefined {
  const near = known.filter((one) => isOneEdit(name, one));
  return near.length === 1 ? near[0] : undefined;
}
