/** Whether a host stands for all hosts with its end: `*.a.com`. */
export const isWildcard = (host: string): boolean => host.startsWith('*');

/** Whether `wide` covers all hosts of `narrow`: `*.a.com` covers `b.a.com`. */
export function isWithin(narrow: string, wide: string): boolean {
  if (!isWildcard(wide)) return narrow === wide;
  return (isWildcard(narrow) ? narrow.slice(1) : narrow).endsWith(wide.slice(1));
}

/** Returns whether one of the hosts covers a name. Does not visit each host for each name. */
export function covers(hosts: readonly string[]): (name: string) => boolean {
  const all = new Set(hosts);
  const lengths = [...new Set(hosts.filter(isWildcard).map(({ length }) => length - 1))];
  return (name) => {
    const end = isWildcard(name) ? name.slice(1) : name;
    return all.has(name) || lengths.some((length) => all.has(`*${end.slice(end.length - length)}`));
  };
}

/**
 * Returns a host from its end to its beginning. The text of a host begins with that of each host
 * that covers it.
 */
export const endOf = (host: string): string =>
  isWildcard(host) ? reversed(host.slice(1)) : `${reversed(host)}\n`;

const reversed = (text: string): string => Array.from(text).reverse().join('');
