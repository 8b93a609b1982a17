import { isDeepStrictEqual } from 'node:util';
import type { Published, Told } from '../support/ads-client.ts';
import { xdsTypes } from '../../src/pilot-discovery/push/view.ts';

/** The lists whose order Envoy ignores, each with the key that distinguishes its entries. */
const unordered: Readonly<Record<string, (entry: Published) => unknown>> = {
  domains: (entry) => entry,
  filter_chains: ({ name, filter_chain_match: match }) => [name, match],
  query_parameters: ({ name }) => name,
  virtual_hosts: ({ name }) => name,
  lb_endpoints: ({ endpoint }) => endpoint,
};

function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const ordered = inOneOrder(inner);
    const key = unordered[name];
    return [
      name,
      key !== undefined && Array.isArray(ordered)
        ? byKey(ordered as readonly Published[], key)
        : ordered,
    ] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the entries by their keys; a key that is already there gets a number. */
function byKey(entries: readonly Published[], key: (entry: Published) => unknown): Published {
  const keyed: Record<string, Published> = {};
  for (const entry of entries) {
    const name = JSON.stringify(key(entry));
    const again = Object.keys(keyed).filter(
      (existing) => existing === name || existing.startsWith(`${name} `),
    ).length;
    keyed[again === 0 ? name : `${name} ${again}`] = entry;
  }
  return keyed;
}

function walk(ours: unknown, theirs: unknown, path: string, places: string[]): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (isObject(ours) && isObject(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const [a, b] = [ours as Published, theirs as Published];
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      walk(a[name], b[name], `${path}/${name}`, places);
    return;
  }
  const text = (value: unknown) =>
    (JSON.stringify(value) as string | undefined)?.slice(0, 300) ?? 'nothing';
  places.push(`${path}: ${text(ours)}, istiod: ${text(theirs)}`);
}

/** Returns each place in which two control planes send a proxy different things. */
export function differences(ours: Told, theirs: Told): readonly string[] {
  const places: string[] = [];
  for (const type of xdsTypes) {
    const byName = (all: readonly Published[]) =>
      Object.fromEntries(
        all.map((resource) => [
          String(resource['name'] ?? resource['cluster_name']),
          inOneOrder(resource),
        ]),
      );
    walk(byName(ours[type]), byName(theirs[type]), type, places);
  }
  return places;
}
