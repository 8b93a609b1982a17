import { create, toBinary } from '@bufbuild/protobuf';
import { listenersOf } from '../../src/pilot-discovery/generate/listeners/listeners.ts';
import type { ProxyNode } from '../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { readNode } from '../../src/pilot-discovery/generate/scope/read-node.ts';
import { routesOf } from '../../src/pilot-discovery/generate/routes/routes.ts';
import { withWorkload } from '../../src/pilot-discovery/generate/scope/with-workload.ts';
import { readMeshConfig } from '../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readMeshNetworks } from '../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';
import { LocalitySchema } from '../../src/shared/proto/envoy/config/core/v3/base_pb.ts';
import { typeUrls, type XdsResource, type XdsType } from '../../src/pilot-discovery/push/view.ts';
import type {
  Environment,
  GatewayClusters,
} from '../../src/pilot-discovery/environment/environment.ts';
import { askAll, type Published, routeNames, type Told } from '../support/ads-client.ts';
import { published } from '../support/envoy-api.ts';
import { clustersOf, endpointsOf, environmentOf } from '../support/generated.ts';
import type { Case } from './cases.ts';

/** Returns the proxy of a case, and the environment from which its resources are generated. */
export function proxyOf(
  { yaml, id, metadata, locality, mesh = '', networks = '' }: Case,
  mode: string,
  gatewayClusters: GatewayClusters = 'reached',
): { readonly environment: Environment; readonly node: ProxyNode } {
  const environment = environmentOf(yaml, {
    gatewayClusters,
    mesh: readMeshConfig(mesh, 'mesh.yaml').mesh,
    networks: readMeshNetworks(networks, 'networks.yaml').networks,
  });
  const nodeOrFlaw = readNode(
    { id, cluster: 'test', metadata: { ...metadata, INTERCEPTION_MODE: mode } },
    locality,
  );
  if (typeof nodeOrFlaw === 'string') throw new Error(nodeOrFlaw);
  return { environment, node: withWorkload(environment, nodeOrFlaw) };
}

/** Returns what pilot-discovery sends to the proxy of a case. */
export function ours(testCase: Case, mode: string, gatewayClusters?: GatewayClusters): Told {
  const { environment, node } = proxyOf(testCase, mode, gatewayClusters);
  const read = (type: XdsType, resources: readonly XdsResource[]) =>
    resources.map(({ body }) => published(typeUrls[type], body) as Published);
  const cluster = read('cluster', clustersOf(environment, node));
  const listener = read('listener', listenersOf(environment, node));
  const usedRoutes = new Set(routeNames(listener));
  const edsClusters = new Set(
    cluster.filter((resource) => resource['type'] === 'EDS').map((resource) => resource['name']),
  );
  return {
    cluster,
    endpoint: read('endpoint', endpointsOf(environment, node)).filter((resource) =>
      edsClusters.has(resource['cluster_name']),
    ),
    listener,
    route: read('route', routesOf(environment, node)).filter((resource) =>
      usedRoutes.has(String(resource['name'])),
    ),
  };
}

/** Returns what the control plane at a port serves to the proxy of a case. */
export async function servedTo(
  { id, metadata, locality }: Case,
  port: number,
  mode: string,
): Promise<Told> {
  const [region = '', zone = '', subZone = ''] = locality.split('/');
  const place =
    locality === ''
      ? {}
      : { locality: toBinary(LocalitySchema, create(LocalitySchema, { region, zone, subZone })) };
  return askAll(port, { id, metadata: { ...metadata, INTERCEPTION_MODE: mode }, ...place });
}
