import type { Covered } from '../../istio/access-policy.ts';
import { keyOf, type ResourceKey } from '../../istio/model.ts';
import type { Protocol } from '../../istio/values.ts';
import type { Environment } from '../../environment/environment.ts';
import { listenerKindOf } from '../scope/outbound-bindings.ts';
import { accessFilters, type AccessFilters } from './access-filters.ts';
import { peerAuthenticationOf, selects, type SetMode } from '../scope/peer-authentication-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';

/** Who may connect to a workload, and what else is asked of who calls. */
export interface PortAccess {
  /** What holds for a port, and for one that nothing names (undefined). */
  readonly modeAt: (port: number | undefined, protocol: Protocol) => SetMode;
  /** Whether a policy closes a port, whatever PeerAuthentications say. */
  readonly isClosed: (port: number | undefined, protocol: Protocol) => boolean;
  /** Those for which something is said; sorted. */
  readonly ports: readonly number[];
  readonly filters: AccessFilters;
  readonly of: readonly ResourceKey[];
}

/**
 * What PeerAuthentications and policies say of a workload. A port that is restricted by a policy
 * that is not served, or refused, is closed. Those of the root namespace are for all namespaces.
 */
export function accessOf(
  environment: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels'>,
): PortAccess {
  const peers = peerAuthenticationOf(environment, node);
  const places = new Set([node.namespace, environment.mesh.rootNamespace]);
  const policies = [...places]
    .flatMap((place) => environment.accessPolicies.get(place) ?? [])
    .filter(
      ({ spec }) => spec.effect.type !== 'nothing' && selects(spec.selector ?? {}, node.labels),
    );
  const covered = policies.flatMap(({ spec: { effect } }) =>
    effect.type === 'closes' ? [effect.covers] : [],
  );
  const closed = covered.flatMap((covers) => (covers.type === 'ports' ? covers.ports : []));
  const isClosed: PortAccess['isClosed'] = (port, protocol) =>
    covered.some((covers) => isCovered(covers, port, protocol));
  return {
    isClosed,
    modeAt: (port, protocol) =>
      isClosed(port, protocol)
        ? 'closed'
        : ((port === undefined ? undefined : peers.ports.get(port)) ?? peers.mode),
    ports: [...new Set([...peers.ports.keys(), ...closed])].sort((a, b) => a - b),
    filters: accessFilters(policies, environment.mesh.trustDomain),
    of: [...peers.of.map(keyOf), ...policies.map(keyOf)],
  };
}

function isCovered(covers: Covered, port: number | undefined, protocol: Protocol): boolean {
  switch (covers.type) {
    case 'ports':
      return port !== undefined && covers.ports.includes(port);
    case 'all':
      return covers.protocols === 'any' || listenerKindOf(protocol) !== 'tcp';
  }
}
