import type { EgressHost } from '../../istio/workloads/sidecar.ts';
import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';

/** The hosts that a block of a Sidecar names for one namespace, or for all. */
export interface NamedHosts {
  readonly hasService: (host: string) => boolean;
  /**
   * Returns whether a host of a VirtualService includes one of the named hosts, or is included in
   * one.
   */
  readonly meets: (host: string) => boolean;
}

/** The hosts that a block of a Sidecar names. */
export interface EgressHosts {
  /** All names; undefined if one of them is a wildcard. */
  readonly exact: readonly string[] | undefined;
  /** Returns the hosts that are named for a namespace, then the hosts for all namespaces. */
  readonly hostsFor: (namespace: string) => readonly NamedHosts[];
}

/**
 * Sorts the hosts of a block by namespace.
 *
 * @param ownNamespace the namespace that `.` stands for
 */
export function egressHosts(hosts: readonly EgressHost[], ownNamespace: string): EgressHosts {
  const names = new Map<string, string[]>();
  for (const { namespace, host } of hosts) {
    const place = namespace === '.' ? ownNamespace : namespace;
    names.set(place, [...(names.get(place) ?? []), host]);
  }
  const named = new Map([...names].map(([place, hostNames]) => [place, namedHosts(hostNames)]));
  const all = hosts.map(({ host }) => host);
  return {
    exact: all.some(isWildcard) ? undefined : [...new Set(all)],
    hostsFor: (namespace) =>
      [named.get(namespace), named.get('*')].filter((matcher) => matcher !== undefined),
  };
}

function namedHosts(hosts: readonly string[]): NamedHosts {
  const exact = new Set(hosts.filter((host) => !isWildcard(host)));
  const wide = hosts.filter(isWildcard);
  return {
    hasService: (host) => exact.has(host) || wide.some((wildcard) => isWithin(host, wildcard)),
    meets: (host) =>
      exact.has(host) ||
      wide.some((wildcard) => isWithin(host, wildcard) || isWithin(wildcard, host)) ||
      (isWildcard(host) && [...exact].some((name) => isWithin(name, host))),
  };
}
