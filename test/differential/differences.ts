import { isDeepStrictEqual } from 'node:util';
import type { Published, Told } from '../support/ads-client.ts';
import { xdsTypes } from '../../src/pilot-discovery/push/view.ts';

/** Lists whose order means nothing to Envoy, with what tells their entries apart. */
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
    const made = inOneOrder(inner);
    const key = unordered[name];
    return [
      name,
      key !== undefined && Array.isArray(made) ? byKey(made as readonly Published[], key) : made,
    ] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The entries by their keys; one that is there again has a number too. */
function byKey(entries: readonly Published[], key: (entry: Published) => unknown): Published {
  const found: Record<string, Published> = {};
  for (const entry of entries) {
    const name = JSON.stringify(key(entry));
    const again = Object.keys(found).filter(
      (one) => one === name || one.startsWith(`${name} `),
    ).length;
    found[again === 0 ? name : `${name} ${again}`] = entry;
  }
  return found;
}

function walk(ours: unknown, theirs: unknown, path: string, found: string[]): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (isObject(ours) && isObject(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const [a, b] = [ours as Published, theirs as Published];
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      walk(a[name], b[name], `${path}/${name}`, found);
    return;
  }
  const text = (value: unknown) =>
    (JSON.stringify(value) as string | undefined)?.slice(0, 300) ?? 'nothing';
  found.push(`${path}: ${text(ours)}, istiod: ${text(theirs)}`);
}

/** Each place in which two control planes tell a proxy different things. */
export function differences(ours: Told, theirs: Told): readonly string[] {
  const found: string[] = [];
  for (const type of xdsTypes) {
    const byName = (all: readonly Published[]) =>
      Object.fromEntries(
        all.map((one) => [String(one['name'] ?? one['cluster_name']), inOneOrder(one)]),
      );
    walk(byName(ours[type]), byName(theirs[type]), type, found);
  }
  return found;
}
