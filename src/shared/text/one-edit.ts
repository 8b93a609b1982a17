// Why: docs/decisions/058-a-typo-starts-no-other-proxy.md
/**
 * Whether one edit turns one text into the other: a character is inserted, removed or replaced, two
 * neighbours are swapped, or any number of letters change case. False for equal texts. Pure.
 */
export function isOneEdit(text: string, other: string): boolean {
  if (text === other || Math.abs(text.length - other.length) > 1) return false;
  if (text.toLowerCase() === other.toLowerCase()) return true;
  let from = 0;
  while (from < text.length && text[from] === other[from]) from += 1;
  const [rest, others] = [text.slice(from), other.slice(from)];
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
 * Returns the text of `texts` that is one edit away from a name; undefined for none, and for
 * several. Pure.
 */
export function meant(name: string, texts: readonly string[]): string | undefined {
  const near = texts.filter((text) => isOneEdit(name, text));
  return near.length === 1 ? near[0] : undefined;
}
