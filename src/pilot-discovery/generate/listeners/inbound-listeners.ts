import { keyOf, type Resource, type ResourceKey } from '../../istio/documents/model.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { FilterChainSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import type { Ingress } from '../../istio/workloads/sidecar.ts';
import { type PortAccess, accessOf } from './access-of.ts';
import {
  bindAddresses,
  exactBalance,
  ingressAddress,
  mayBind,
  socketAddress,
} from '../scope/bind-address.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import { inboundChains, type InboundPort } from './inbound-chains.ts';
import { inspectors, originalDestination, originalSource } from './listener-filters.ts';
import { type Reporting, reportingOf } from './reporting.ts';
import { ownPorts } from '../scope/own-ports.ts';
import type { SetMode } from '../scope/peer-authentication-of.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sidecarOf } from '../scope/sidecar-of.ts';
import { blackHole } from './tcp-chain.ts';
import type { Init } from '../encoding/typed-config.ts';

type FilterChain = Init<typeof FilterChainSchema>;

/** The clients that may call, and how calls are reported. */
interface CallSettings {
  readonly policy: PortAccess;
  readonly reporting: Reporting;
}

/**
 * Returns the listeners for inbound traffic: one for all redirected connections, and one for each
 * bound port of a Sidecar.
 */
export function inboundListeners(environment: Environment, node: ProxyNode): XdsResource[] {
  const policy = accessOf(environment, node);
  const reporting = reportingOf(environment, node, 'server');
  const sidecar = sidecarOf(environment, node);
  const redirected = node.interception !== 'none';
  const ingress = sidecar?.spec.ingress ?? [];
  const bound = ingress.filter(
    ({ captureMode, port }) =>
      (redirected ? captureMode === 'none' : captureMode !== 'iptables') &&
      mayBind(node, port.number),
  );
  const listeners =
    sidecar === undefined
      ? []
      : bound
          .map((boundIngress) =>
            boundListener(environment, node, { policy, reporting }, sidecar, boundIngress),
          )
          .filter((listener) => listener !== undefined);
  return redirected
    ? [captureListener(environment, node, { policy, reporting }, sidecar), ...listeners]
    : listeners;
}

/** Returns the listener that receives all redirected connections. */
function captureListener(
  environment: Environment,
  node: ProxyNode,
  { policy, reporting }: CallSettings,
  sidecar: Resource<'Sidecar'> | undefined,
): XdsResource {
  const { mesh } = environment;
  const name = 'virtualInbound';
  const { ports, keys } = capturedPorts(environment, node, policy, sidecar);
  const served = new Set(ports.map(({ port }) => port));
  const others = policy.ports.filter((port) => !served.has(port));
  const filterChains: FilterChain[] = [
    {
      name: 'virtualInbound-blackhole',
      filterChainMatch: { destinationPort: 15_006 },
      filters: [blackHole],
    },
    ...[
      ...[undefined, ...others].map((port) => passthroughPort(port, policy.modeAt(port))),
      ...ports,
    ].flatMap((port) => inboundChains(mesh, node, policy.filters, reporting, port)),
  ];
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: socketAddress(bindAddresses(node).wildcard, 15_006),
    filterChains,
    listenerFilters: [
      originalDestination,
      ...(node.interception === 'tproxy' ? [originalSource] : []),
      ...inspectors(filterChains),
    ],
    listenerFiltersTimeout: protoDuration(mesh.protocolDetectionTimeoutMs),
    continueOnListenerFiltersTimeout: true,
    trafficDirection: TrafficDirection.INBOUND,
    accessLog: reporting.listenerLog,
    maxConnectionsToAcceptPerSocketEvent: 1,
    ...(node.exactBalance.inbound && exactBalance),
    ...(node.interception === 'tproxy' && { transparent: true }),
  };
  return encodeResource(ListenerSchema, name, listener, [
    ...keys,
    ...policy.resourceKeys,
    ...reporting.resourceKeys,
  ]);
}

/** Returns the ports of a Sidecar, else those of the services of the workload. */
function capturedPorts(
  environment: Environment,
  node: ProxyNode,
  policy: PortAccess,
  sidecar: Resource<'Sidecar'> | undefined,
): { readonly ports: readonly InboundPort[]; readonly keys: readonly ResourceKey[] } {
  if (sidecar !== undefined && sidecar.spec.ingress.length > 0) {
    const ports = sidecar.spec.ingress.filter(({ captureMode }) => captureMode !== 'none');
    const sorted = [...ports].sort((a, b) => a.port.number - b.port.number);
    return {
      ports: sorted.map((ingress) => ingressPort(node, policy, sidecar, ingress)),
      keys: [keyOf(sidecar)],
    };
  }
  const servicePorts = ownPorts(environment, node);
  const { wildcard } = bindAddresses(node);
  const ports = servicePorts.map(({ service, port, endpoint }): InboundPort => {
    const name = `${wildcard}_${endpoint.port}`;
    return {
      httpName: name,
      tcpName: name,
      port: endpoint.port,
      protocol: port.protocol,
      mode: policy.modeAt(endpoint.port),
      tls: undefined,
      cluster: `inbound|${endpoint.port}||`,
      statPrefix: `inbound_${name};`,
      host: service.host,
      servicePort: port.number,
      config: '',
    };
  });
  return {
    ports,
    keys: servicePorts.flatMap(({ service, endpoint }) => [service.key, endpoint.key]),
  };
}

/** Returns a port that no service and no Sidecar names: its traffic goes to the application too. */
const passthroughPort = (port: number | undefined, mode: SetMode): InboundPort => ({
  httpName: 'virtualInbound-catchall-http',
  tcpName: 'virtualInbound',
  port,
  protocol: 'auto',
  mode,
  tls: undefined,
  cluster: 'InboundPassthroughCluster',
  statPrefix: 'InboundPassthroughCluster;',
  host: '',
  servicePort: 0,
  config: '',
});

function ingressPort(
  node: ProxyNode,
  policy: PortAccess,
  sidecar: Resource<'Sidecar'>,
  { port, bind, tls }: Ingress,
): InboundPort {
  const name = `${bind === '' ? ingressAddress(node) : bind}_${port.number}`;
  return {
    httpName: name,
    tcpName: name,
    port: port.number,
    protocol: port.protocol,
    mode: tls === 'closed' ? tls : policy.modeAt(port.number),
    tls: tls === 'closed' ? undefined : tls,
    cluster: `inbound|${port.number}||`,
    statPrefix: `inbound_${name};`,
    host: `${sidecar.name}.${sidecar.namespace}`,
    servicePort: port.number,
    config: `/apis/networking.istio.io/v1/namespaces/${sidecar.namespace}/sidecar/${sidecar.name}`,
  };
}

/** Returns a listener for a port to which clients connect without redirection. */
function boundListener(
  environment: Environment,
  node: ProxyNode,
  { policy, reporting }: CallSettings,
  sidecar: Resource<'Sidecar'>,
  ingress: Ingress,
): XdsResource | undefined {
  const { mesh } = environment;
  const address = ingress.bind === '' ? ingressAddress(node) : ingress.bind;
  const port = ingressPort(node, policy, sidecar, ingress);
  const filterChains = inboundChains(mesh, node, policy.filters, reporting, port);
  const listener: Init<typeof ListenerSchema> = {
    name: port.httpName,
    address: socketAddress(address, ingress.port.number),
    filterChains,
    listenerFilters: inspectors(filterChains),
    listenerFiltersTimeout: protoDuration(mesh.protocolDetectionTimeoutMs),
    continueOnListenerFiltersTimeout: true,
    trafficDirection: TrafficDirection.INBOUND,
    accessLog: reporting.listenerLog,
    maxConnectionsToAcceptPerSocketEvent: 1,
    ...(node.exactBalance.inbound && exactBalance),
  };
  return encodeResource(ListenerSchema, port.httpName, listener, [
    ...[keyOf(sidecar), ...policy.resourceKeys, ...reporting.resourceKeys],
  ]);
}
