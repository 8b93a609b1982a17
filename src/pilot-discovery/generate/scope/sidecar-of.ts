import type { Resource } from '../../istio/documents/model.ts';
import type { OutboundPolicy } from '../../istio/workloads/sidecar.ts';
import type { Environment } from '../../environment/environment.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';

/**
 * Returns the Sidecar that applies to a proxy: the oldest of its namespace that selects its labels,
 * else the one for the whole namespace, else the one of the root namespace for all.
 */
export function sidecarOf(
  { mesh, sidecars }: Environment,
  node: ProxyNode,
): Resource<'Sidecar'> | undefined {
  const near = sidecars.get(node.namespace) ?? [];
  return (
    near.find(
      ({ spec }) =>
        spec.workloadSelector !== undefined && selects(spec.workloadSelector, node.labels),
    ) ??
    near.find(({ spec }) => spec.workloadSelector === undefined) ??
    (sidecars.get(mesh.rootNamespace) ?? []).find(({ spec }) => spec.workloadSelector === undefined)
  );
}

/** Returns what happens to traffic of a proxy whose destination no resource names. */
export function outboundPolicyOf(environment: Environment, node: ProxyNode): OutboundPolicy {
  return (
    sidecarOf(environment, node)?.spec.outboundTrafficPolicy ??
    environment.mesh.outboundTrafficPolicy
  );
}

/** Returns the cluster for traffic whose destination no resource names; undefined for none. */
export function unknownCluster(policy: OutboundPolicy): string | undefined {
  if (policy === 'registry-only') return undefined;
  if (policy === 'allow-any') return 'PassthroughCluster';
  const { host, port, subset } = policy.egressProxy;
  return `outbound|${String(port)}|${subset}|${host}`;
}
