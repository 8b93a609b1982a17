import type { Resource } from '../istio/documents/model.ts';
import type { Environment } from './environment.ts';
import { entriesBy, reindexed } from './grouped.ts';
import { kubernetesHost } from './kubernetes-host.ts';
import type { Touched } from './touched.ts';

type Aliases = Environment['aliases'];

/** Returns the Services that are other names for hosts, after changes. */
export function aliasesAfter(
  before: Aliases,
  touched: readonly Touched<'Service'>[],
  domain: string,
): Aliases {
  return reindexed(before, touched, (service) => {
    const { reached } = service.spec;
    return reached.type === 'alias'
      ? [
          ['of', hostOfAlias(service, domain)],
          ['for', reached.host],
        ]
      : [];
  });
}

const hostOfAlias = ({ name, namespace }: Resource<'Service'>, domain: string): string =>
  kubernetesHost(name, namespace, domain);

/** Returns the names that a host has through aliases, and through their aliases, sorted. */
export function aliasesOf(aliases: Aliases, host: string, domain: string): readonly string[] {
  const names = reached([host], (name) =>
    [...entriesBy(aliases, 'for', name)].map((alias) => hostOfAlias(alias, domain)),
  );
  return [...names].filter((name) => name !== host).sort();
}

/** Returns the hosts whose names may differ after changes of aliases. */
export function aliasedHosts(
  before: Aliases,
  after: Aliases,
  touched: readonly Touched<'Service'>[],
): ReadonlySet<string> {
  const targetsIn = (services: Iterable<Resource<'Service'>>) =>
    [...services].flatMap(({ spec }) => (spec.reached.type === 'alias' ? [spec.reached.host] : []));
  const changed = touched.flatMap((change) => [change.before ?? [], change.after ?? []].flat());
  return reached(targetsIn(changed), (name) =>
    [before, after].flatMap((aliases) => targetsIn(entriesBy(aliases, 'of', name))),
  );
}

/**
 * Returns the names, and all names that they lead to. Each name is followed once, so a cycle ends.
 */
function reached(
  from: readonly string[],
  next: (name: string) => readonly string[],
): ReadonlySet<string> {
  const visitedHosts = new Set(from);
  for (const name of visitedHosts) for (const nextName of next(name)) visitedHosts.add(nextName);
  return visitedHosts;
}
