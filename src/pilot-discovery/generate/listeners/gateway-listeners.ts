import type { PortPolicy } from '../../istio/destination-rule.ts';
import type { TerminatedTls } from '../../istio/gateway.ts';
import { keyOf, type ResourceKey } from '../../istio/model.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { FilterChainSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import type { Init, TypedConfig } from '../encoding/typed-config.ts';
import { bindAddresses, exactBalance, mayBind, socketAddress } from '../scope/bind-address.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import {
  type ConnectionCluster,
  type Connections,
  connectionsOf,
} from '../scope/gateway-connections.ts';
import {
  type MergedListener,
  type MergedServer,
  mergedGatewayOf,
  serverNames,
} from '../scope/merged-gateway.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { type Services, visibleServices } from '../scope/visible-services.ts';
import { gatewayTls } from '../tls/downstream-tls.ts';
import { listenerAccessLogs } from './access-log.ts';
import { accessOf, type PortAccess } from './access-of.ts';
import { gatewayManager } from './http-connection-manager.ts';
import { tlsInspector } from './listener-filters.ts';
import { blackHole, tcpFilters } from './tcp-chain.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { isTls } from '../../istio/is-http.ts';

type FilterChain = Init<typeof FilterChainSchema>;

/** Returns the listeners of a gateway: one for each address and port of its servers. */
export function gatewayListeners(environment: Environment, node: ProxyNode): XdsResource[] {
  const access = accessOf(environment, node);
  return mergedGatewayOf(environment, node)
    .listeners.filter(({ port }) => mayBind(node, port) && !node.ownPorts.includes(port))
    .flatMap((one) => portListener(environment, node, access, one) ?? []);
}

function portListener(
  environment: Environment,
  node: ProxyNode,
  access: PortAccess,
  { bind, port, kind, servers: all }: MergedListener,
): XdsResource | undefined {
  const { mesh } = environment;
  const servers = kind === 'http' ? all.slice(0, 1) : all;
  const { wildcard, others } = bindAddresses(node);
  const address = bind === '' ? wildcard : bind;
  const other = ownMember(others, address);
  const name = `${address}_${port}`;
  const filterChains = servers.flatMap((one) => chainsOf(environment, node, access, name, one));
  if (filterChains.length === 0) return undefined;
  const keys: readonly ResourceKey[] = [
    ...new Set([
      ...all.map(({ gateway }) => keyOf(gateway)),
      ...servers.flatMap((one) => keysOfConnections(environment, node, one)),
      ...access.of,
    ]),
  ];
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: socketAddress(address, port),
    ...(other !== undefined && { additionalAddresses: [{ address: socketAddress(other, port) }] }),
    filterChains,
    listenerFilters: kind === 'tls' ? [tlsInspector] : [],
    trafficDirection: TrafficDirection.OUTBOUND,
    accessLog: listenerAccessLogs(mesh),
    maxConnectionsToAcceptPerSocketEvent: 1,
    ...(node.exactBalance.outbound && exactBalance),
  };
  return encodeResource(ListenerSchema, name, listener, keys);
}

const patience = { transportSocketConnectTimeout: { seconds: 15n } } as const;

/**
 * Returns the chains of a server. Servers of plain HTTP at one port share the chain of the first.
 */
function chainsOf(
  environment: Environment,
  node: ProxyNode,
  access: PortAccess,
  name: string,
  one: MergedServer,
): readonly FilterChain[] {
  const { mesh } = environment;
  const { server, routeName, port } = one;
  const { protocol } = server.port;
  const { tls } = server;
  const isClosed = access.isClosed(port) || tls.mode === 'closed';
  const names = isTls(protocol) ? serverNames(server) : [];
  const socket = 'certificate' in tls && {
    transportSocket: gatewayTls(node, tls, alpnOf(routeName, tls.mode)),
  };
  if (routeName === '' && !isClosed)
    return connectionsAt(environment, node, one).map((its) => ({
      ...matchOf(tls.mode === 'passthrough' ? its.names : names),
      filters: [...access.filters.tcp, ...connectionFilters(environment, node, its)],
      ...socket,
      ...patience,
    }));
  const manager = () =>
    gatewayManager(mesh, node, access.filters.http, name, { routeName, protocol });
  return [
    {
      ...matchOf(names),
      filters: [isClosed ? blackHole : manager()],
      ...(!isClosed && socket),
      ...patience,
    },
  ];
}

/** For TCP, the ALPN of clients in the mesh is accepted besides HTTP. */
const alpnOf = (routeName: string, mode: TerminatedTls['mode']): string[] =>
  routeName === '' && mode === 'istio-mutual'
    ? ['istio-peer-exchange', 'h2', 'http/1.1']
    : ['h2', 'http/1.1'];

const connectionsAt = (environment: Environment, node: ProxyNode, one: MergedServer) =>
  connectionsOf(environment, node, visibleServices(environment, node)).get(one) ?? [];

/** Returns the filters of a chain that forwards connections. */
function connectionFilters(
  environment: Environment,
  node: ProxyNode,
  { rule, to, server }: Connections,
): readonly TypedConfig[] {
  const [first, ...others] = to;
  if (first === undefined) return [blackHole];
  const { protocol } = server.server.port;
  const policy = policyOf(environment, node, first);
  if (others.length === 0) return tcpFilters(environment.mesh, first.cluster, protocol, policy);
  const target = {
    statPrefix: `${rule.name}.${rule.namespace}`,
    clusters: to
      .filter(({ weight }) => weight > 0)
      .map(({ cluster, weight }) => ({ name: cluster, weight })),
  };
  return tcpFilters(environment.mesh, target, protocol, policy);
}

/** Returns the TCP settings of a DestinationRule for a destination. */
function policyOf(
  environment: Environment,
  node: ProxyNode,
  { host, subset }: ConnectionCluster,
): PortPolicy | undefined {
  const rule = ruleOf(environment, node, host)?.spec;
  const own = rule?.subsets.find(({ name }) => name === subset)?.trafficPolicy;
  return own ?? rule?.trafficPolicy;
}

function ruleOf(environment: Environment, node: ProxyNode, host: string): MatchedRule | undefined {
  const service = visibleServices(environment, node).get(host);
  return service && destinationRuleOf(environment, node, service);
}

/** Returns the DestinationRules that affect chains of connections. */
export const rulesOfConnections = (
  environment: Environment,
  node: ProxyNode,
  services: Services,
): readonly (MatchedRule | undefined)[] =>
  [...connectionsOf(environment, node, services).values()]
    .flat()
    .flatMap(({ to }) => to.slice(0, 1).map(({ host }) => ruleOf(environment, node, host)));

const keysOfConnections = (
  environment: Environment,
  node: ProxyNode,
  one: MergedServer,
): readonly ResourceKey[] =>
  connectionsAt(environment, node, one).flatMap(({ rule, to: [first] }) => [
    keyOf(rule),
    ...(first === undefined ? [] : (ruleOf(environment, node, first.host)?.keys ?? [])),
  ]);

const matchOf = (names: readonly string[]): Pick<FilterChain, 'filterChainMatch'> =>
  names.length === 0 || names.includes('*')
    ? {}
    : { filterChainMatch: { serverNames: [...names] } };
