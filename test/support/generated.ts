import { type DescMessage, fromBinary, type JsonObject } from '@bufbuild/protobuf';
import { clusterView } from '../../src/pilot-discovery/generate/clusters/clusters.ts';
import { messageJson } from '../../src/pilot-discovery/generate/config-dump.ts';
import { endpointView } from '../../src/pilot-discovery/generate/endpoints/endpoints.ts';
import type { ProxyNode } from '../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { readNode } from '../../src/pilot-discovery/generate/scope/read-node.ts';
import {
  type MeshNetworks,
  noNetworks,
} from '../../src/pilot-discovery/istio/mesh/mesh-networks.ts';
import {
  defaultMeshConfig,
  type MeshConfig,
} from '../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { XdsResource } from '../../src/pilot-discovery/push/view.ts';
import { buildEnvironment } from '../../src/pilot-discovery/environment/build-environment.ts';
import type {
  Environment,
  GatewayClusters,
} from '../../src/pilot-discovery/environment/environment.ts';
import { emptyStore, reduceStore } from '../../src/pilot-discovery/environment/store.ts';

/** Returns the environment of a text of resources; if `before` is there, the one after that. */
export function environmentOf(
  yaml: string,
  {
    mesh = {},
    networks = noNetworks,
    before,
    gatewayClusters = 'reached',
  }: {
    mesh?: Partial<MeshConfig>;
    networks?: MeshNetworks;
    before?: Environment;
    gatewayClusters?: GatewayClusters;
  } = {},
): Environment {
  const { resources, flaws } = readResources(yaml, {
    source: 'test',
    path: 'test.yaml',
    defaultNamespace: 'default',
  });
  if (flaws.some(({ severity }) => severity === 'error'))
    throw new Error(flaws.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
  const empty = { ...emptyStore(['test']), mesh: { ...defaultMeshConfig, ...mesh }, networks };
  const [store, changes] = reduceStore(empty, {
    type: 'changed',
    source: 'test',
    upserts: resources,
    removes: [],
  });
  return buildEnvironment(before, store, changes, 'cluster.local', gatewayClusters);
}

/** Returns a proxy at 10.0.0.1 in the namespace `default`. */
export function proxyAt(more: Partial<ProxyNode> = {}): ProxyNode {
  const id = 'sidecar~10.0.0.1~app.default~default.svc.cluster.local';
  const node = readNode({ id, metadata: { LABELS: { app: 'app' } } }, '');
  if (typeof node === 'string') throw new Error(node);
  return { ...node, ...more };
}

/** Returns the clusters that a proxy receives. */
export const clustersOf = (environment: Environment, node: ProxyNode): readonly XdsResource[] => [
  ...clusterView(environment, node).resources.values(),
];

/** Returns the endpoints that a proxy receives. */
export const endpointsOf = (environment: Environment, node: ProxyNode): readonly XdsResource[] => [
  ...endpointView(environment, node).resources.values(),
];

/**
 * Returns the content of the resource with this name, as JSON with Envoy's field names. Undefined
 * if no resource has that name.
 */
export function saidBy(
  schema: DescMessage,
  resources: readonly XdsResource[],
  name: string,
): JsonObject | undefined {
  const xdsResource = resources.find((resource) => resource.name === name);
  return xdsResource && messageJson(schema, fromBinary(schema, xdsResource.body));
}
