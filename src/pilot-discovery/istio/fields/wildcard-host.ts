/** Whether a host stands for all hosts with its end: `*.a.com`. */
export const isWildcard = (host: string): boolean => host.startsWith('*');

/** Whether `wide` covers all hosts of `narrow`: `*.a.com` covers `b.a.com`. */
export function isWithin(narrow: string, wide: string): boolean {
  if (!isWildcard(wide)) return narrow === wide;
  return (isWildcard(narrow) ? narrow.slice(1) : narrow).endsWith(wide.slice(1));
}
