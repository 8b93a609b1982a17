import { clusterId } from '../../istio/mesh/mesh-config.ts';
import type { Labels } from '../../istio/fields/values.ts';
import type { ClusterLoadAssignmentSchema } from '../../../shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import type {
  LbEndpointSchema,
  LocalityLbEndpointsSchema,
} from '../../../shared/proto/envoy/config/endpoint/v3/endpoint_components_pb.ts';
import type { Endpoint } from '../../environment/environment.ts';
import type { MutualTlsMark } from '../tls/mutual-tls-mark.ts';
import { type LocalityPlace, placed, type Placed } from './locality-lb.ts';
import type { LocalityPolicy } from '../scope/locality-policy.ts';
import type { ReachEndpoints, ReachedEndpoint } from './network-gateways.ts';
import { selects } from '../scope/peer-authentication-of.ts';
import type { Init } from '../encoding/typed-config.ts';

type LocalityEndpoints = Init<typeof LocalityLbEndpointsSchema>;

/** Returns the ready endpoints of a subset. */
export function endpointsWith(endpoints: readonly Endpoint[], labels: Labels): readonly Endpoint[] {
  const isAny = Object.keys(labels).length === 0;
  return endpoints.filter(
    ({ readiness, labels: endpointLabels }) =>
      readiness === 'ready' && (isAny || selects(labels, endpointLabels)),
  );
}

/** Returns endpoints by locality and priority, for a policy and a proxy at a place. */
export function loadAssignment(
  name: string,
  endpoints: readonly Endpoint[],
  policy: LocalityPolicy,
  place: LocalityPlace,
  { isMutual, reach }: { readonly isMutual: MutualTlsMark; readonly reach: ReachEndpoints },
): Init<typeof ClusterLoadAssignmentSchema> {
  return {
    clusterName: name,
    endpoints: placed(endpoints, policy, place, reach).map((group) =>
      localityEndpoints(group, isMutual),
    ),
  };
}

function localityEndpoints(
  { locality, priority, weight, endpoints }: Placed,
  isMutual: MutualTlsMark,
): LocalityEndpoints {
  const [region = '', zone = '', subZone = ''] = locality.split('/');
  return {
    locality: { region, zone, subZone },
    lbEndpoints: endpoints.map((endpoint) => lbEndpoint(endpoint, isMutual)),
    ...(weight > 0 && { loadBalancingWeight: weight }),
    priority,
  };
}

function lbEndpoint(
  endpoint: ReachedEndpoint,
  isMutual: MutualTlsMark,
): Init<typeof LbEndpointSchema> {
  const isGateway = endpoint.declaredBy !== undefined;
  const { address, port, weight, workloadName, namespace, labels } = endpoint;
  const workload = [
    workloadName,
    namespace,
    canonicalName(labels, workloadName),
    canonicalRevision(labels),
    endpoint.declaredBy === 'MeshNetworks' ? '' : clusterId,
  ].join(';');
  return {
    hostIdentifier: {
      case: 'endpoint',
      value: {
        address: {
          address: /^[/@]/.test(address)
            ? { case: 'pipe', value: { path: address } }
            : {
                case: 'socketAddress',
                value: { address, portSpecifier: { case: 'portValue', value: port } },
              },
        },
      },
    },
    metadata: {
      filterMetadata: {
        ...((isGateway || isMutual(endpoint)) && {
          'envoy.transport_socket_match': { tlsMode: 'istio' },
        }),
        istio: { workload },
      },
    },
    loadBalancingWeight: Math.max(1, weight),
  };
}

/** Returns the name of the workload in telemetry. */
const canonicalName = (labels: Labels, workloadName: string): string =>
  labels['service.istio.io/canonical-name'] ??
  labels['app.kubernetes.io/name'] ??
  labels['app'] ??
  workloadName;

const canonicalRevision = (labels: Labels): string =>
  labels['service.istio.io/canonical-revision'] ??
  labels['app.kubernetes.io/version'] ??
  labels['version'] ??
  '';
