import type { XdsResource } from '../../push/view.ts';
import { type Environment, serviceKey } from '../../environment/environment.ts';
import { ClusterLoadAssignmentSchema } from '../../../shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { ownClusterName } from '../../../shared/xds/own-cluster-name.ts';
import { defaultMeshConfig } from '../../istio/mesh/mesh-config.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import type { LocalityPolicy } from '../scope/locality-policy.ts';
import { ownPorts } from '../scope/own-ports.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { endpointsWith, loadAssignment } from './load-assignment.ts';
import { directly } from './network-gateways.ts';

const unplaced: LocalityPolicy = {
  settings: defaultMeshConfig.localities,
  failover: 'inactive',
  tiers: 'localities',
};

/**
 * Returns the endpoints of the workload of a proxy, by locality: those of the service at its lowest
 * port. If no service has the workload, there are no endpoints, and Envoy prefers no zone.
 */
export function ownAssignment(environment: Environment, node: ProxyNode): XdsResource {
  const [lowestPort] = ownPorts(environment, node);
  const endpoints =
    lowestPort &&
    environment.endpoints.get(serviceKey(lowestPort.service))?.get(lowestPort.port.number);
  return encodeResource(
    ClusterLoadAssignmentSchema,
    ownClusterName,
    loadAssignment(ownClusterName, endpointsWith(endpoints ?? [], {}), unplaced, node, {
      isMutual: () => false,
      reach: directly,
    }),
    lowestPort === undefined ? [] : [lowestPort.service.key],
  );
}
