import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';
import type { Environment } from '../../environment/environment.ts';
import { outboundSni } from './cluster-name.ts';
import type { ConnectionCluster } from './connection-clusters.ts';
import { destinationRuleOf } from './destination-rule-of.ts';
import { memoTable } from './memo.ts';
import {
  type MergedGateway,
  type MergedServer,
  mergedGatewayOf,
  serverNames,
} from './merged-gateway.ts';
import type { ProxyNode } from './proxy-node.ts';
import { scopeOfRulesFor } from './scope.ts';
import type { Services } from './visible-services.ts';

type ByServer = ReadonlyMap<MergedServer, readonly ConnectionCluster[]>;

const nothing: ByServer = new Map();
const ofScope = memoTable<ByServer>();

/** Whether a proxy passes on connections whose server name is that of a cluster. */
export type Passage = 'none' | 'by-sni';

export const passageOf = (environment: Environment, node: ProxyNode): Passage =>
  hasAutomatic(mergedGatewayOf(environment, node)) ? 'by-sni' : 'none';

/**
 * Returns the clusters of each server with AUTO_PASSTHROUGH: those of the services in the mesh that
 * its hosts contain. The name of a cluster is the server name that leads to it. If two servers of a
 * listener have a cluster, the first one gets it.
 */
export function sniDestinations(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): ByServer {
  const merged = mergedGatewayOf(environment, node);
  if (!hasAutomatic(merged)) return nothing;
  const { destinationRules, mesh } = environment;
  return ofScope(
    [services, destinationRules, mesh, merged],
    scopeOfRulesFor(environment, node),
    () => byServer(merged, (names) => clustersWithin(environment, node, services, names)),
  );
}

const hasAutomatic = ({ listeners }: MergedGateway): boolean =>
  listeners.some(({ servers }) => servers.some(isAutomatic));

const isAutomatic = ({ server }: MergedServer): boolean => server.tls.mode === 'auto-passthrough';

function byServer(
  { listeners }: MergedGateway,
  clustersOf: (names: readonly string[]) => readonly ConnectionCluster[],
): ByServer {
  const destinations = new Map<MergedServer, readonly ConnectionCluster[]>();
  for (const { servers } of listeners) {
    const claimedNames = new Set<string>();
    for (const mergedServer of servers.filter(isAutomatic)) {
      const clusters = clustersOf(serverNames(mergedServer.server)).filter(
        ({ cluster }) => !claimedNames.has(cluster),
      );
      for (const { cluster } of clusters) claimedNames.add(cluster);
      destinations.set(mergedServer, clusters);
    }
  }
  return destinations;
}

function clustersWithin(
  environment: Environment,
  node: ProxyNode,
  services: Services,
  names: readonly string[],
): readonly ConnectionCluster[] {
  // Envoy rejects a listener whose server names have a * inside.
  const served = [...services.values()].filter(
    ({ host, location }) =>
      location === 'internal' && !isWildcard(host) && names.some((name) => isWithin(host, name)),
  );
  return served.flatMap((service) => {
    const { host, ports } = service;
    const subsets = destinationRuleOf(environment, node, service)?.spec.subsets ?? [];
    return ports
      .filter(({ protocol }) => protocol !== 'udp')
      .flatMap(({ number }) =>
        ['', ...subsets.map(({ name }) => name)].map((subset) => ({
          cluster: outboundSni({ port: number, subset, host }),
          host,
          subset,
          port: number,
          weight: 1,
        })),
      );
  });
}
