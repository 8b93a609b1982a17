import type { TerminatedTls } from '../../istio/workloads/gateway.ts';
import { keyOf, type ResourceKey } from '../../istio/documents/model.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { FilterChainSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import type { Init } from '../encoding/typed-config.ts';
import {
  bindAddresses,
  exactBalance,
  isUnixAddress,
  listenerAddress,
  mayBind,
  socketAddress,
} from '../scope/bind-address.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';
import { connectionsOf } from '../scope/gateway-connections.ts';
import {
  type MergedListener,
  type MergedServer,
  mergedGatewayOf,
  serverNames,
} from '../scope/merged-gateway.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { type Services, visibleServices } from '../scope/visible-services.ts';
import { gatewayTls } from '../tls/downstream-tls.ts';
import { accessOf, type PortAccess } from './access-of.ts';
import { gatewayManager } from './http-connection-manager.ts';
import { tlsInspector } from './listener-filters.ts';
import { connectionFilters, ruleOfConnections } from './connection-filters.ts';
import { type Reporting, reportingOf } from './reporting.ts';
import { keysOfSniChains, sniChains } from './sni-chains.ts';
import { blackHole } from './tcp-chain.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { isTls } from '../../istio/fields/is-http.ts';

type FilterChain = Init<typeof FilterChainSchema>;

/** Who may call, and how calls are reported. */
interface CallPolicy {
  readonly access: PortAccess;
  readonly reporting: Reporting;
}

/** Returns the listeners of a gateway: one for each address and port of its servers. */
export function gatewayListeners(environment: Environment, node: ProxyNode): XdsResource[] {
  const callPolicy: CallPolicy = {
    access: accessOf(environment, node),
    reporting: reportingOf(environment, node, 'client'),
  };
  return mergedGatewayOf(environment, node)
    .listeners.filter(
      ({ bind, port }) =>
        isUnixAddress(bind) || (mayBind(node, port) && !node.ownPorts.includes(port)),
    )
    .flatMap((listener) => portListener(environment, node, callPolicy, listener) ?? []);
}

function portListener(
  environment: Environment,
  node: ProxyNode,
  callPolicy: CallPolicy,
  { bind, port, kind, servers: all }: MergedListener,
): XdsResource | undefined {
  const servers = kind === 'http' ? all.slice(0, 1) : all;
  const { wildcard, others } = bindAddresses(node);
  const address = bind === '' ? wildcard : bind;
  const other = ownMember(others, address);
  const name = `${address}_${port}`;
  const filterChains = servers.flatMap((server) =>
    chainsOf(environment, node, callPolicy, name, server),
  );
  if (filterChains.length === 0) return undefined;
  const keys: readonly ResourceKey[] = [
    ...new Set([
      ...all.map(({ gateway }) => keyOf(gateway)),
      ...servers.flatMap((server) => [
        ...keysOfConnections(environment, node, server),
        ...keysOfSniChains(environment, node, server),
      ]),
      ...callPolicy.access.resourceKeys,
      ...callPolicy.reporting.resourceKeys,
    ]),
  ];
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: listenerAddress(address, port),
    ...(other !== undefined && { additionalAddresses: [{ address: socketAddress(other, port) }] }),
    filterChains,
    listenerFilters: kind === 'tls' ? [tlsInspector] : [],
    trafficDirection: TrafficDirection.OUTBOUND,
    accessLog: callPolicy.reporting.listenerLog,
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
  { access, reporting }: CallPolicy,
  name: string,
  mergedServer: MergedServer,
): readonly FilterChain[] {
  const { server, routeName } = mergedServer;
  const { protocol } = server.port;
  const { tls } = server;
  if (tls.mode === 'auto-passthrough')
    return sniChains(environment, node, reporting, mergedServer).map((chain) => ({
      ...chain,
      ...patience,
    }));
  const isClosed = access.entry === 'closed' || tls.mode === 'closed';
  const names = isTls(protocol) ? serverNames(server) : [];
  const socket = 'certificate' in tls && {
    transportSocket: gatewayTls(node, tls, alpnOf(routeName, tls.mode)),
  };
  if (routeName === '' && !isClosed)
    return connectionsAt(environment, node, mergedServer).map((connections) => ({
      ...matchOf(tls.mode === 'passthrough' ? connections.names : names),
      filters: [
        ...access.filters.tcp,
        ...connectionFilters(
          environment,
          node,
          { services: visibleServices(environment, node), reporting },
          { ...connections, protocol },
        ),
      ],
      ...socket,
      ...patience,
    }));
  const manager = () =>
    gatewayManager(reporting, node, access.filters.http, visibleServices(environment, node), name, {
      routeName,
      protocol,
    });
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

const connectionsAt = (environment: Environment, node: ProxyNode, server: MergedServer) =>
  connectionsOf(environment, node, visibleServices(environment, node)).get(server) ?? [];

/** Returns the DestinationRules that affect chains of connections. */
export const rulesOfConnections = (
  environment: Environment,
  node: ProxyNode,
  services: Services,
): readonly (MatchedRule | undefined)[] =>
  [...connectionsOf(environment, node, services).values()]
    .flat()
    .map((connections) => ruleOfConnections(environment, node, services, connections));

const keysOfConnections = (
  environment: Environment,
  node: ProxyNode,
  server: MergedServer,
): readonly ResourceKey[] =>
  connectionsAt(environment, node, server).flatMap((connections) => [
    keyOf(connections.rule),
    ...(ruleOfConnections(environment, node, visibleServices(environment, node), connections)
      ?.keys ?? []),
  ]);

const matchOf = (names: readonly string[]): Pick<FilterChain, 'filterChainMatch'> =>
  names.length === 0 || names.includes('*')
    ? {}
    : { filterChainMatch: { serverNames: [...names] } };
