import type { Resource } from '../../istio/model.ts';
import type { ConnectionDestination, ConnectionMatch } from '../../istio/virtual-service.ts';
import type { Environment } from '../../environment/environment.ts';
import { isWithin } from '../../istio/wildcard-host.ts';
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
 * terminates it, else to the first rule that has it.
 */
function ofListener(
  environment: Environment,
  node: ProxyNode,
  services: Services,
  { servers }: MergedListener,
): readonly (readonly [MergedServer, readonly Connections[]])[] {
  const taken = new Set(
    servers.filter((one) => !isPassedOn(one)).flatMap(({ server }) => serverNames(server)),
  );
  return servers.map((one) => {
    const { port, tls } = one.server;
    if (one.routeName !== '' || tls.mode === 'closed' || tls.mode === 'auto-passthrough')
      return [one, nothing];
    const rules = rulesOfGateway(environment, node, one.gatewayName);
    const speaking = rules.filter((rule) => hostsAt(rule, one.server.hosts).length > 0);
    const to = (route: readonly ConnectionDestination[]) =>
      connectionClusters(services, route, port.number);
    if (isPassedOn(one)) return [one, passedOn(one, speaking, taken, to)];
    const [first] = speaking.flatMap((rule) =>
      rule.spec.tcp
        .filter(({ match }) => match.length === 0 || match.some((its) => isFor(its, one)))
        .map((tcp) => ({ server: one, names: [], rule, to: to(tcp.route) })),
    );
    return [one, first === undefined ? nothing : [first]];
  });
}

const isPassedOn = ({ server }: MergedServer): boolean => server.tls.mode === 'passthrough';

function passedOn(
  one: MergedServer,
  rules: readonly Rule[],
  taken: Set<string>,
  to: (route: readonly ConnectionDestination[]) => readonly ConnectionCluster[],
): readonly Connections[] {
  const found: Connections[] = [];
  for (const rule of rules)
    for (const { match, route } of rule.spec.tls)
      for (const its of match) {
        const names = [...new Set(its.sniHosts)];
        const isTaken = names.some((name) => taken.has(name));
        if (!isFor(its, one) || isTaken || !names.every((name) => isAt(one, rule, name))) continue;
        for (const name of names) taken.add(name);
        found.push({
          server: one,
          names: names.includes('*') ? [] : names,
          rule,
          to: to(route),
        });
      }
  return found;
}

/**
 * Returns whether a server has a host for a server name: one that contains the name, or is within
 * it.
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
