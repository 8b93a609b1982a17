import type { Resource } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';

type Entries = ReadonlyMap<string, Resource<'WorkloadEntry'>>;

const indices = memoTable<Entries>();

/**
 * A proxy with the labels and the locality that the WorkloadEntry of its namespace with one of its
 * addresses gives it, as others see it; as it says itself where there is none. Pure.
 */
export function withWorkload(
  { workloadEntries }: Pick<Environment, 'workloadEntries'>,
  node: ProxyNode,
): ProxyNode {
  const all = workloadEntries.get(node.namespace);
  if (all === undefined) return node;
  const index = indices(
    [all],
    '',
    () => new Map([...all].reverse().map((entry) => [entry.spec.address, entry])),
  );
  const spec = node.addresses
    .map((address) => index.get(address)?.spec)
    .find((found) => found !== undefined);
  if (spec === undefined) return node;
  return {
    ...node,
    labels: Object.keys(spec.labels).length > 0 ? spec.labels : node.labels,
    locality: spec.locality === '' ? node.locality : spec.locality,
  };
}
