import type { Resource } from '../../istio/documents/model.ts';
import type {
  ConnectionDestination,
  ConnectionMatch,
} from '../../istio/traffic/virtual-service.ts';
import type { Environment } from '../../environment/environment.ts';
import { isWithin } from '../../istio/fields/wildcard-host.ts';
import { type ConnectionCluster, connectionClusters } from './connection-clusters.ts';
import { hostsAt, rulesOfGateway } from './gateway-rules.ts';
import { memoTable } from './memo.ts';
import {
  type MergedListener,
  type MergedServer,
  mergedGatewayOf,
  serverNames,
} from './merged-gateway.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Services } from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

/** The connections of a server that are forwarded without HTTP, and their destinations. */
interface Connections {
  readonly server: MergedServer;
  /** The server names of TLS; empty for all. */
  readonly names: readonly string[];
  readonly rule: Rule;
  readonly to: readonly ConnectionCluster[];
}

type ByServer = ReadonlyMap<MergedServer, readonly Connections[]>;

const ofScope = memoTable<ByServer>();
const nothing: readonly Connections[] = [];

/** Returns what VirtualServices define for the connections of each server that forwards some. */
export function connectionsOf(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): ByServer {
  const merged = mergedGatewayOf(environment, node);
  return ofScope(
    [services, environment.virtualServices, merged],
    node.namespace,
    () =>
      new Map(
        merged.listeners.flatMap((listener) => ofListener(environment, node, services, listener)),
      ),
  );
}

/**
 * Returns the connections of each server. A server name of TLS belongs to the server that
 * terminates it, else to the first match that has it. AUTO_PASSTHROUGH does not use rules.
 */
function ofListener(
  environment: Environment,
  node: ProxyNode,
  services: Services,
  { servers }: MergedListener,
): readonly (readonly [MergedServer, readonly Connections[]])[] {
  const terminatedNames = new Set(
    servers
      .filter(({ server }) => 'certificate' in server.tls || server.tls.mode === 'closed')
      .flatMap(({ server }) => serverNames(server)),
  );
  const passedNames = new Set<string>();
  return servers.map((mergedServer) => {
    const { port, tls } = mergedServer.server;
    if (mergedServer.routeName !== '' || tls.mode === 'closed' || tls.mode === 'auto-passthrough')
      return [mergedServer, nothing];
    const rules = rulesOfGateway(environment, node, mergedServer.gatewayName);
    const matchingRules = rules.filter(
      (rule) => hostsAt(rule, mergedServer.server.hosts).length > 0,
    );
    const to = (route: readonly ConnectionDestination[]) =>
      connectionClusters(services, route, port.number);
    if (isPassedOn(mergedServer))
      return [
        mergedServer,
        passedOn(mergedServer, matchingRules, { terminatedNames, passedNames }, to),
      ];
    const [first] = matchingRules.flatMap((rule) =>
      rule.spec.tcp
        .filter(
          ({ match }) =>
            match.length === 0 || match.some((condition) => isFor(condition, mergedServer)),
        )
        .map((tcp) => ({ server: mergedServer, names: [], rule, to: to(tcp.route) })),
    );
    return [mergedServer, first === undefined ? nothing : [first]];
  });
}

const isPassedOn = ({ server }: MergedServer): boolean => server.tls.mode === 'passthrough';

interface ClaimedNames {
  readonly terminatedNames: ReadonlySet<string>;
  /** Grows by the names of each match. */
  readonly passedNames: Set<string>;
}

/**
 * Returns the connections of a server that passes TLS on. A match is only for the names that the
 * server has and that no server terminates. If an earlier match has one of them, the later match
 * does not apply, as in istiod.
 */
function passedOn(
  mergedServer: MergedServer,
  rules: readonly Rule[],
  { terminatedNames, passedNames }: ClaimedNames,
  to: (route: readonly ConnectionDestination[]) => readonly ConnectionCluster[],
): readonly Connections[] {
  const connections: Connections[] = [];
  for (const rule of rules)
    for (const { match, route } of rule.spec.tls)
      for (const condition of match) {
        const names = [...new Set(condition.sniHosts)]
          .filter((name) => !terminatedNames.has(name) && isAt(mergedServer, rule, name))
          .sort();
        if (
          names.length === 0 ||
          !isFor(condition, mergedServer) ||
          names.some((name) => passedNames.has(name))
        )
          continue;
        for (const name of names) passedNames.add(name);
        connections.push({
          server: mergedServer,
          names: names.includes('*') ? [] : names,
          rule,
          to: to(route),
        });
      }
  return connections;
}

/**
 * Returns whether a server has a host that matches a server name, or that the server name matches.
 */
const isAt = ({ server }: MergedServer, rule: Rule, name: string): boolean =>
  server.hosts.some(
    ({ namespace, host }) =>
      (namespace === '*' || namespace === rule.namespace) &&
      (isWithin(name, host) || isWithin(host, name)),
  );

/** Returns whether a match is for the port and the gateway of a server. */
const isFor = ({ port, gateways }: ConnectionMatch, { server, gatewayName }: MergedServer) =>
  (port === 0 || port === server.port.number) &&
  (gateways.length === 0 || gateways.includes(gatewayName));
