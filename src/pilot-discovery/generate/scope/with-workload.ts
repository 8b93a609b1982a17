import { keyOf, type Resource } from '../../istio/model.ts';
import type { Endpoint, Environment } from '../../environment/environment.ts';
import { memoTable } from './memo.ts';
import { servedByAddress, type Served } from './own-ports.ts';
import type { ProxyNode } from './proxy-node.ts';

type Entry = Resource<'WorkloadEntry'>;

const indices = memoTable<ReadonlyMap<string, Entry>>();

/**
 * A proxy with the labels and the locality that others see at one of its addresses, if its
 * namespace has something there: a WorkloadEntry that a service selects, else the endpoint of a
 * ServiceEntry, else another WorkloadEntry. It is as it says itself if there is none. Pure.
 */
export function withWorkload(
  environment: Pick<Environment, 'services' | 'endpoints' | 'workloadEntries'>,
  node: ProxyNode,
): ProxyNode {
  const index = servedByAddress(environment);
  const served = node.addresses
    .flatMap((address) => index.get(address) ?? [])
    .filter(({ service }) => service.namespace === node.namespace);
  const entry = entryOf(environment, node);
  const isSelected =
    entry !== undefined && served.some(({ endpoint }) => endpoint.key === keyOf(entry));
  const inline = isSelected ? undefined : inlineEndpoint(served);
  if (inline !== undefined)
    return { ...node, labels: inline.labels, locality: inline.locality || node.locality };
  if (entry === undefined) return node;
  const { labels, locality } = entry.spec;
  return {
    ...node,
    labels: Object.keys(labels).length > 0 ? labels : node.labels,
    locality: locality || node.locality,
  };
}

/** The WorkloadEntry of the namespace at the first address that has one. */
function entryOf(
  { workloadEntries }: Pick<Environment, 'workloadEntries'>,
  { namespace, addresses }: ProxyNode,
): Entry | undefined {
  const all = workloadEntries.get(namespace);
  if (all === undefined) return undefined;
  const index = indices(
    [all],
    '',
    () => new Map([...all].reverse().map((entry) => [entry.spec.address, entry])),
  );
  return addresses.map((address) => index.get(address)).find((entry) => entry !== undefined);
}

/** The endpoint that a ServiceEntry has itself; of several entries the first by name. */
function inlineEndpoint(served: readonly Served[]): Endpoint | undefined {
  const inline = served.filter(({ service, endpoint }) => endpoint.key === service.key);
  return inline.reduce<Served | undefined>(
    (first, one) => (first === undefined || one.service.key < first.service.key ? one : first),
    undefined,
  )?.endpoint;
}
