import { keyOf, type Resource } from '../../istio/documents/model.ts';
import type { Endpoint, Environment } from '../../environment/environment.ts';
import { byAge } from '../../environment/age.ts';
import { entriesBy } from '../../environment/grouped.ts';
import { servedAt, type Served } from './own-ports.ts';
import type { ProxyNode } from './proxy-node.ts';

/**
 * Returns a proxy with the labels and the locality of its workload, as other proxies see it at one
 * of its addresses. The workload is a Pod of its namespace, else a WorkloadEntry that a service
 * selects, else the endpoint of a ServiceEntry, else another WorkloadEntry. If there is none, the
 * proxy's own labels and locality stay. Pure.
 */
export function withWorkload(
  environment: Pick<Environment, 'services' | 'endpoints' | 'served' | 'workloadEntries' | 'pods'>,
  node: ProxyNode,
): ProxyNode {
  const pod = podOf(environment, node);
  if (pod !== undefined)
    return {
      ...node,
      labels: Object.keys(pod.labels).length > 0 ? pod.labels : node.labels,
      locality: pod.spec.locality || node.locality,
    };
  const served = node.addresses
    .flatMap((address) => [...servedAt(environment, address)])
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

/**
 * Returns the Pod of the namespace at the first address that has one; if there are several, the
 * oldest.
 */
function podOf(
  { pods }: Pick<Environment, 'pods'>,
  { namespace, addresses }: ProxyNode,
): Resource<'Pod'> | undefined {
  return addresses
    .map((address) => [...entriesBy(pods, 'at', namespace, address)].sort(byAge)[0])
    .find((pod) => pod !== undefined);
}

/**
 * Returns the WorkloadEntry of the namespace at the first address that has one; if there are
 * several, the oldest.
 */
function entryOf(
  { workloadEntries }: Pick<Environment, 'workloadEntries'>,
  { namespace, addresses }: ProxyNode,
): Resource<'WorkloadEntry'> | undefined {
  return addresses
    .map((address) => [...entriesBy(workloadEntries, namespace, address)].sort(byAge)[0])
    .find((entry) => entry !== undefined);
}

/**
 * Returns the endpoint that is part of a ServiceEntry; if several have one, that of the first by
 * name.
 */
function inlineEndpoint(served: readonly Served[]): Endpoint | undefined {
  const inline = served.filter(({ service, endpoint }) => endpoint.key === service.key);
  return inline.reduce<Served | undefined>(
    (first, candidate) =>
      first === undefined || candidate.service.key < first.service.key ? candidate : first,
    undefined,
  )?.endpoint;
}
