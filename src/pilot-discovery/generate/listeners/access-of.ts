import { keyOf, type ResourceKey } from '../../istio/documents/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { accessFilters, type AccessFilters } from './access-filters.ts';
import { askingFilters } from './asking-filters.ts';
import { accessPoliciesOf } from '../scope/access-policies-of.ts';
import { peerAuthenticationOf, type SetMode } from '../scope/peer-authentication-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { tokenFilter } from './token-filter.ts';

/** The modes and the filters for connections to a workload. */
export interface PortAccess {
  /** Returns the mode of a port; undefined means a port for which there are no settings. */
  readonly modeAt: (port: number | undefined) => SetMode;
  /** `closed` if a refused policy was never valid: nobody may connect, at any port. */
  readonly entry: 'open' | 'closed';
  /** The ports that have settings, sorted. */
  readonly ports: readonly number[];
  readonly filters: AccessFilters;
  readonly resourceKeys: readonly ResourceKey[];
}

/**
 * Returns the effect of PeerAuthentications and policies on a workload. Policies of the root
 * namespace apply to all namespaces.
 */
export function accessOf(
  environment: Environment,
  node: Pick<ProxyNode, 'namespace' | 'labels' | 'role'>,
): PortAccess {
  const peers = peerAuthenticationOf(environment, node);
  const policies = accessPoliciesOf(environment, node);
  const entry = policies.some(({ spec }) => spec.effect.type === 'closes') ? 'closed' : 'open';
  const tokens = tokenFilter(
    policies.flatMap(({ spec: { effect } }) => (effect.type === 'tokens' ? effect.rules : [])),
    environment.fetchedKeys,
    node.role,
  );
  const filters = accessFilters(policies, environment.mesh.trustDomain);
  const asking = askingFilters(policies, environment);
  return {
    entry,
    modeAt: (port) =>
      entry === 'closed'
        ? 'closed'
        : ((port === undefined ? undefined : peers.ports.get(port)) ?? peers.mode),
    ports: [...peers.ports.keys()].sort((a, b) => a - b),
    // An authorizer is asked before a token is looked at.
    filters: {
      http: [...asking.http, ...(tokens === undefined ? [] : [tokens]), ...filters.http],
      tcp: [...asking.tcp, ...filters.tcp],
    },
    resourceKeys: [...peers.policies.map(keyOf), ...policies.map(keyOf)],
  };
}
