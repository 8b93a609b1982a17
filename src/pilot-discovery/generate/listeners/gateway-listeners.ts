import { keyOf, type ResourceKey } from '../../istio/model.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { FilterChainSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import type { Init } from '../encoding/typed-config.ts';
import { bindAddresses, exactBalance, mayBind, socketAddress } from '../scope/bind-address.ts';
import {
  isTerminatedHttp,
  type MergedListener,
  type MergedServer,
  mergedGatewayOf,
  serverNames,
} from '../scope/merged-gateway.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { gatewayTls } from '../tls/downstream-tls.ts';
import { listenerAccessLogs } from './access-log.ts';
import { accessOf, type PortAccess } from './access-of.ts';
import { gatewayManager } from './http-connection-manager.ts';
import { tlsInspector } from './listener-filters.ts';
import { blackHole } from './tcp-chain.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

type FilterChain = Init<typeof FilterChainSchema>;

/** The listeners of a gateway: one for each address and port that its servers name. */
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
  { bind, port, kind, servers }: MergedListener,
): XdsResource | undefined {
  const { mesh } = environment;
  const { wildcard, others } = bindAddresses(node);
  const address = bind === '' ? wildcard : bind;
  const other = ownMember(others, address);
  const name = `${address}_${port}`;
  const [first] = servers;
  if (first === undefined) return undefined;
  const filterChains =
    kind === 'tls'
      ? servers.flatMap((one) => tlsChain(environment, node, access, name, one) ?? [])
      : kind === 'http'
        ? [httpChain(environment, node, access, name, first)]
        : [];
  if (filterChains.length === 0) return undefined;
  const keys: readonly ResourceKey[] = [
    ...new Set([...servers.map(({ gateway }) => keyOf(gateway)), ...access.of]),
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

/** All servers of plain HTTP share the chain and its routes. */
function httpChain(
  { mesh }: Environment,
  node: ProxyNode,
  access: PortAccess,
  name: string,
  { server: { port }, routeName, port: number }: MergedServer,
): FilterChain {
  const isClosed = access.isClosed(number, port.protocol);
  return {
    filters: [
      isClosed
        ? blackHole
        : gatewayManager(mesh, node, access.filters.http, name, {
            routeName,
            protocol: port.protocol,
          }),
    ],
    ...patience,
  };
}

/** The chain of a server whose TLS ends here, or of one that is wrong. */
function tlsChain(
  { mesh }: Environment,
  node: ProxyNode,
  access: PortAccess,
  name: string,
  one: MergedServer,
): FilterChain | undefined {
  const { server, routeName, port } = one;
  const { tls } = server;
  const match = matchOf(serverNames(server));
  if (tls.mode === 'closed' || access.isClosed(port, server.port.protocol))
    return { ...match, filters: [blackHole], ...patience };
  if (!isTerminatedHttp(server) || !('certificate' in tls)) return undefined;
  return {
    ...match,
    filters: [
      gatewayManager(mesh, node, access.filters.http, name, {
        routeName,
        protocol: server.port.protocol,
      }),
    ],
    transportSocket: gatewayTls(node, tls, ['h2', 'http/1.1']),
    ...patience,
  };
}

const matchOf = (names: readonly string[]): Pick<FilterChain, 'filterChainMatch'> =>
  names.includes('*') ? {} : { filterChainMatch: { serverNames: [...names] } };
