/** Whether a host stands for all that end as it does. */
export const isWildcard = (host: string): boolean => host.startsWith('*');

/** Whether all hosts that `narrow` stands for are among those of `wide`. */
export function isWithin(narrow: string, wide: string): boolean {
  if (!isWildcard(wide)) return narrow === wide;
  const suffix = wide.slice(1);
  return isWildcard(narrow) ? narrow.slice(1).endsWith(suffix) : narrow.endsWith(suffix) && narrow.length >= suffix.length;
}
