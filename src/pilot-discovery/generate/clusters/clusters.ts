import { isIPv6 } from 'node:net';
import {
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_LbPolicy as LbPolicy,
  ClusterSchema,
} from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { asDownstream, connectionSettings, protocolOptions } from './connection-pool.ts';
import { encodeResource, type SortedView, withResources } from '../encoding/encode-resource.ts';
import { inboundClusters, inboundSource, rulesOfOwnPorts } from './inbound-clusters.ts';
import { outboundClusters } from './outbound-clusters.ts';
import { ownPorts, partsOfPorts } from '../scope/own-ports.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sidecarOf } from '../scope/sidecar-of.ts';
import type { Init } from '../encoding/typed-config.ts';

/**
 * Returns all clusters of a proxy: for the services visible to it, for its own ports, and the three
 * that always exist.
 */
export function clusterView(environment: Environment, node: ProxyNode): SortedView {
  const outbound = outboundClusters(environment, node);
  const otherClusters = ownClusters(environment, node).filter(
    ({ name }) => !outbound.resources.has(name),
  );
  return withResources(
    outbound,
    // If several have the same name, the first one is used.
    otherClusters.toReversed().map((cluster) => [cluster.name, cluster] as const),
  );
}

/** Returns the clusters that are not for visible services. */
function ownClusters(environment: Environment, node: ProxyNode): readonly XdsResource[] {
  if (node.role === 'router') return [blackHole(environment)];
  return [
    blackHole(environment),
    passthrough(environment),
    ...inboundClusters(environment, node),
    inboundPassthrough(environment, node),
  ];
}

/** Returns the inputs of clusters. As long as they are equal, one by one, the clusters are. */
export function inputsOfClusters(environment: Environment, node: ProxyNode): readonly unknown[] {
  const ports = ownPorts(environment, node);
  return [
    outboundClusters(environment, node),
    environment.mesh,
    sidecarOf(environment, node),
    rulesOfOwnPorts(environment, node, ports),
    ...partsOfPorts(ports),
  ];
}

/** Returns a cluster without endpoints: Envoy drops the traffic to it. */
function blackHole({ mesh }: Environment): XdsResource {
  const name = 'BlackHoleCluster';
  return encodeResource(
    ClusterSchema,
    name,
    {
      name,
      altStatName: `${name};`,
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
      connectTimeout: protoDuration(mesh.connectTimeoutMs),
    },
    [],
  );
}

/** Returns the cluster of traffic that no service matches: it goes to its original destination. */
const passthrough = (environment: Environment): XdsResource =>
  originalDestination(environment, 'PassthroughCluster');

/** Returns the cluster of inbound traffic to a port that no service has. */
function inboundPassthrough(environment: Environment, { addresses }: ProxyNode): XdsResource {
  // IPv4 comes first, whatever the order of the addresses.
  const [isIpv6, ...others] = [...new Set(addresses.map((address) => isIPv6(address)))].sort();
  const upstreamBindConfig = {
    sourceAddress: inboundSource(isIpv6 ?? false),
    extraSourceAddresses: others.map((other) => ({ address: inboundSource(other) })),
  };
  return originalDestination(environment, 'InboundPassthroughCluster', { upstreamBindConfig });
}

function originalDestination(
  { mesh }: Environment,
  name: string,
  more: Init<typeof ClusterSchema> = {},
): XdsResource {
  return encodeResource(
    ClusterSchema,
    name,
    {
      name,
      altStatName: 'PassthroughCluster;',
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.ORIGINAL_DST },
      lbPolicy: LbPolicy.CLUSTER_PROVIDED,
      ...connectionSettings(mesh, undefined),
      ...protocolOptions({
        commonHttpProtocolOptions: { idleTimeout: protoDuration(300_000) },
        upstreamProtocolOptions: asDownstream,
      }),
      ...more,
    },
    [],
  );
}
