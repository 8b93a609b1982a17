/** Whether a host stands for all that end as it does: `*.a.com`. */
export const isWildcard = (host: string): boolean => host.startsWith('*');

/** Whether all hosts that `narrow` stands for are those of `wide` too: `b.a.com` and `*.a.com`. */
export function isWithin(narrow: string, wide: string): boolean {
  if (!isWildcard(wide)) return narrow === wide;
  return (isWildcard(narrow) ? narrow.slice(1) : narrow).endsWith(wide.slice(1));
}
