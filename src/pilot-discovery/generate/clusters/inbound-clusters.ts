import { isIPv4, isIPv6 } from 'node:net';
import type { ConnectionPool } from '../../istio/traffic/destination-rule.ts';
import { keyOf, type ResourceKey } from '../../istio/documents/model.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import type { Ingress } from '../../istio/workloads/sidecar.ts';
import {
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_LbPolicy as LbPolicy,
  ClusterSchema,
} from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { AddressSchema } from '../../../shared/proto/envoy/config/core/v3/address_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { clusterMetadata } from './cluster-metadata.ts';
import { inboundName } from '../scope/cluster-name.ts';
import { connectionSettings, httpOptions, upstreamHttpOf } from './connection-pool.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { isUnixAddress, pipeAddress } from '../scope/bind-address.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import { ownPorts, type OwnPort } from '../scope/own-ports.ts';
import { outboundScope } from '../scope/outbound-scope.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sidecarOf } from '../scope/sidecar-of.ts';
import { policyFor } from '../scope/traffic-policy.ts';
import type { Init } from '../encoding/typed-config.ts';

type Cluster = Init<typeof ClusterSchema>;
type Address = NonNullable<Init<typeof AddressSchema>['address']>;

/**
 * Returns a cluster for each port that a workload serves: the ports of its Sidecar, else, if its
 * traffic is captured, the ports of its services.
 */
export function inboundClusters(environment: Environment, node: ProxyNode): readonly XdsResource[] {
  const sidecar = sidecarOf(environment, node);
  if (sidecar !== undefined && sidecar.spec.ingress.length > 0) {
    const key = keyOf(sidecar);
    const ports = ownPorts(environment, node);
    return sidecar.spec.ingress.map((ingress) =>
      ingressCluster(environment, node, ingress, ports, key),
    );
  }
  if (node.interception === 'none') return [];
  return ownPorts(environment, node).map((ownPort) => ownCluster(environment, node, ownPort));
}

/** The source address of calls to the workload: it keeps them from being captured again. */
export const inboundSource = (isIpv6: boolean) =>
  ({
    address: isIpv6 ? '::6' : '127.0.0.6',
    portSpecifier: { case: 'portValue', value: 0 },
  }) as const;

const isOnlyIpv6 = ({ addresses }: ProxyNode): boolean =>
  addresses.length > 0 && addresses.every((address) => isIPv6(address));

function ownCluster(environment: Environment, node: ProxyNode, ownPort: OwnPort): XdsResource {
  const { endpoint, port } = ownPort;
  const { pool, metadataFields: withMetadata, keys } = servicesAt(environment, node, ownPort);
  const ofSidecar = sidecarOf(environment, node)?.spec.inboundConnectionPool;
  return encoded(
    environment,
    endpoint.port,
    port.protocol,
    ofSidecar ?? pool,
    { ...capturedAddress(node), ...withMetadata },
    keys,
  );
}

function ingressCluster(
  environment: Environment,
  node: ProxyNode,
  { port, defaultEndpoint, connectionPool }: Ingress,
  ports: readonly OwnPort[],
  key: ResourceKey,
): XdsResource {
  const ownPort = ports.find(({ endpoint }) => endpoint.port === port.number);
  const {
    pool,
    metadataFields: withMetadata,
    keys,
  } = ownPort === undefined ? nobody : servicesAt(environment, node, ownPort);
  const target =
    defaultEndpoint === '' ? capturedAddress(node) : statically(node, port.number, defaultEndpoint);
  const ofSidecar = connectionPool ?? sidecarOf(environment, node)?.spec.inboundConnectionPool;
  return encoded(
    environment,
    port.number,
    port.protocol,
    ofSidecar ?? pool,
    { ...target, ...withMetadata },
    [key, ...keys],
  );
}

interface ServicesAt {
  readonly pool: ConnectionPool | undefined;
  readonly metadataFields: Pick<Cluster, 'metadata'>;
  readonly keys: readonly ResourceKey[];
}

const nobody: ServicesAt = { pool: undefined, metadataFields: {}, keys: [] };

/**
 * Returns the DestinationRule of each port, or undefined. A rule that selects workloads applies
 * only to their outbound calls. As in istiod, no rule applies if the Sidecar does not name the
 * service.
 */
export function rulesOfOwnPorts(
  environment: Environment,
  node: ProxyNode,
  ports: readonly OwnPort[],
): readonly (MatchedRule | undefined)[] {
  if (node.role === 'router') return [];
  const { services } = outboundScope(environment, node);
  return ports.map(({ service }) =>
    services.has(service.host)
      ? destinationRuleOf(environment, { ...node, labels: {} }, service)
      : undefined,
  );
}

/**
 * Returns what the services of a port configure. As in istiod, the metadata of the cluster does not
 * name a rule that has only subsets.
 */
function servicesAt(environment: Environment, node: ProxyNode, ownPort: OwnPort): ServicesAt {
  const { services, port } = ownPort;
  const [rule] = rulesOfOwnPorts(environment, node, [ownPort]);
  const inMesh = services.filter(({ location }) => location === 'internal');
  const named = rule?.spec.trafficPolicy === undefined ? undefined : rule;
  return {
    pool: policyFor(rule?.spec, port.number, undefined).connectionPool,
    metadataFields:
      inMesh.length > 0 ? { metadata: clusterMetadata({ rule: named, services: inMesh }) } : {},
    keys: [...services.map(({ key }) => key), ...(rule?.keys ?? [])],
  };
}

function encoded(
  { mesh }: Environment,
  port: number,
  protocol: Protocol,
  pool: ConnectionPool | undefined,
  more: Cluster,
  keys: readonly ResourceKey[],
): XdsResource {
  const name = inboundName(port);
  const inbound = pool && { ...pool, http: { ...pool.http, h2UpgradePolicy: 'default' as const } };
  const http = upstreamHttpOf(protocol, inbound, 'sidecar');
  const cluster = {
    name,
    altStatName: `${name};`,
    ...connectionSettings(mesh, inbound),
    ...httpOptions(http, inbound),
    commonLbConfig: {},
    ...more,
  };
  return encodeResource(ClusterSchema, name, cluster, keys);
}

/** Forwards to the original destination, which Envoy never removes from the cluster. */
const capturedAddress = (node: ProxyNode): Cluster => ({
  clusterDiscoveryType: { case: 'type', value: DiscoveryType.ORIGINAL_DST },
  lbPolicy: LbPolicy.CLUSTER_PROVIDED,
  cleanupInterval: { seconds: 9_223_372_035n },
  upstreamBindConfig: { sourceAddress: inboundSource(isOnlyIpv6(node)) },
});

function statically(node: ProxyNode, number: number, defaultEndpoint: string): Cluster {
  const { address, isLocal } = targetOf(node, defaultEndpoint);
  return {
    clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
    loadAssignment: {
      clusterName: inboundName(number),
      endpoints: [
        {
          lbEndpoints: [{ hostIdentifier: { case: 'endpoint', value: { address: { address } } } }],
        },
      ],
    },
    ...(!isLocal && { upstreamBindConfig: { sourceAddress: inboundSource(isOnlyIpv6(node)) } }),
  };
}

/** Returns whether a `defaultEndpoint` is at the address of the workload, not at loopback. */
export const standsForOwn = (defaultEndpoint: string): boolean =>
  /^(?:0\.0\.0\.0|\[::\]):/.test(defaultEndpoint);

/**
 * `0.0.0.0` and `[::]` mean the address of the workload. Loopback needs no other source address.
 */
function targetOf(
  node: ProxyNode,
  defaultEndpoint: string,
): { readonly address: Address; readonly isLocal: boolean } {
  if (isUnixAddress(defaultEndpoint)) return { ...pipeAddress(defaultEndpoint), isLocal: false };
  const colon = defaultEndpoint.lastIndexOf(':');
  const host = defaultEndpoint.slice(0, colon);
  const ownAddress =
    host === '0.0.0.0'
      ? node.addresses.find(isIPv4)
      : host === '[::]'
        ? node.addresses.find(isIPv6)
        : undefined;
  // Istio uses 127.0.0.1 for 0.0.0.0 even if the proxy has no IPv4 address.
  const isLoopbackIpv6 =
    host === '[::]' ||
    (isOnlyIpv6(node) && host !== '0.0.0.0') ||
    (host === '[::1]' && node.addresses.some(isIPv6));
  const address = ownAddress ?? (isLoopbackIpv6 ? '::1' : '127.0.0.1');
  const value = {
    address,
    portSpecifier: { case: 'portValue', value: Number(defaultEndpoint.slice(colon + 1)) },
  } as const;
  return { address: { case: 'socketAddress', value }, isLocal: ownAddress === undefined };
}
