import { keyOf, type ResourceKey } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { accessFilters, type AccessFilters } from './access-filters.ts';
import { peerAuthenticationOf, selects, type SetMode } from '../scope/peer-authentication-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { tokenFilter } from './token-filter.ts';

/** The modes and the filters for connections to a workload. */
export interface PortAccess {
  /** Returns the mode of a port; undefined means a port for which there are no settings. */
  readonly modeAt: (port: number | undefined) => SetMode;
  /** Returns whether a policy closes a port, whatever PeerAuthentications say. */
  readonly isClosed: (port: number | undefined) => boolean;
  /** The ports that have settings, sorted. */
  readonly ports: readonly number[];
  readonly filters: AccessFilters;
  readonly of: readonly ResourceKey[];
}

/**
 * Returns the effect of PeerAuthentications and policies on a workload. A port is closed if a
 * policy that restricts it is not supported, or is refused. Policies of the root namespace apply to
 * all namespaces.
 */
export function accessOf(
  environment: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels' | 'role'>,
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
  const isClosed: PortAccess['isClosed'] = (port) =>
    covered.some(({ type }) => type === 'all') || (port !== undefined && closed.includes(port));
  const tokens = tokenFilter(
    policies.flatMap(({ spec: { effect } }) => (effect.type === 'tokens' ? effect.rules : [])),
    environment.fetchedKeys,
    node.role,
  );
  const filters = accessFilters(policies, environment.mesh.trustDomain);
  return {
    isClosed,
    modeAt: (port) =>
      isClosed(port)
        ? 'closed'
        : ((port === undefined ? undefined : peers.ports.get(port)) ?? peers.mode),
    ports: [...new Set([...peers.ports.keys(), ...closed])].sort((a, b) => a - b),
    filters: { ...filters, http: [...(tokens === undefined ? [] : [tokens]), ...filters.http] },
    of: [...peers.of.map(keyOf), ...policies.map(keyOf)],
  };
}
