import type { Resource } from '../../istio/documents/model.ts';
import type { AccessPolicyKind, Environment } from '../../environment/environment.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';

/**
 * Returns the AuthorizationPolicies and RequestAuthentications that affect a workload: those of its
 * namespace, then those of the root namespace, which apply to all namespaces.
 */
export function accessPoliciesOf(
  { accessPolicies, mesh }: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels'>,
): readonly Resource<AccessPolicyKind>[] {
  return [...new Set([node.namespace, mesh.rootNamespace])]
    .flatMap((place) => accessPolicies.get(place) ?? [])
    .filter(
      ({ spec }) => spec.effect.type !== 'nothing' && selects(spec.selector ?? {}, node.labels),
    );
}
