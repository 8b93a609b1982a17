import { isDeepStrictEqual } from 'node:util';
import { SortedMap } from '../../shared/maps/sorted-map.ts';
import type { SliceEndpoint } from '../istio/hosts/endpoint-slice.ts';
import { keyOf, type Kind, type Resource, type ResourceKey } from '../istio/documents/model.ts';
import type { Changes } from './changes.ts';
import {
  eachResource,
  namespaceKeyOf,
  noResources,
  resourceAt,
  type Resources,
  withResources,
} from './resources.ts';
import type { Store } from './store.ts';
import type { MeshNetworks } from '../istio/mesh/mesh-networks.ts';
import { byAge } from './age.ts';
import { aliasesAfter } from './aliases.ts';
import { virtualServicesAfter } from './delegates.ts';
import { selectorOf } from './entry-registry.ts';
import { podSelectorOf } from './kubernetes-registry.ts';
import { endpointsAfter } from './service-endpoints.ts';
import type { AccessPolicyKind, Environment, GatewayClusters } from './environment.ts';
import { withFullHost } from './full-names.ts';
import type { WorkloadIndexes } from './registry.ts';
import { groupedBy, regrouped, reindexed } from './grouped.ts';
import { onNode, placedAt, withPodsOfNodes } from './placed-pods.ts';
import { bySelectorAfter, byLabelAfter } from './selectors.ts';
import { externalServicesAfter, withExternalGateways } from './external-gateways.ts';
import { servicesAfter } from './services.ts';
import { type Touched, touchedBetween, type TouchedByKind, touchedOf } from './touched.ts';
import { labelsOfEntry, labelsOfPod } from './workload-endpoint.ts';

const nothing: Omit<
  Environment,
  'mesh' | 'network' | 'networks' | 'writtenNetworks' | 'gatewayClusters' | 'fetchedKeys'
> = {
  resources: noResources,
  services: SortedMap.empty(),
  endpoints: SortedMap.empty(),
  served: SortedMap.empty(),
  virtualServices: [],
  destinationRules: SortedMap.empty(),
  peerAuthentications: SortedMap.empty(),
  accessPolicies: SortedMap.empty(),
  telemetries: SortedMap.empty(),
  gateways: SortedMap.empty(),
  sidecars: SortedMap.empty(),
  workloadEntries: SortedMap.empty(),
  workloadsByLabel: SortedMap.empty(),
  entriesByLabel: SortedMap.empty(),
  servicesByLabel: SortedMap.empty(),
  pods: SortedMap.empty(),
  aliases: SortedMap.empty(),
  externalServices: SortedMap.empty(),
  endpointSlices: SortedMap.empty(),
  endpointsOfPods: SortedMap.empty(),
  consulInstances: SortedMap.empty(),
  warnings: [],
};

/**
 * Returns the index of a store that the generators read. With a previous environment, only the
 * resources in `changes` are indexed again. Pure: equal stores make equal environments, whatever
 * the previous one was. A part that no change has touched is the same object.
 *
 * @param domain completes names of hosts without a dot
 */
export function buildEnvironment(
  previous: Environment | undefined,
  store: Store,
  changes: Changes,
  domain: string,
  gatewayClusters: GatewayClusters,
): Environment {
  const before: Environment = previous ?? {
    ...nothing,
    mesh: store.mesh,
    network: '',
    networks: store.networks,
    writtenNetworks: store.networks,
    gatewayClusters,
    fetchedKeys: store.fetchedKeys,
  };
  const { mesh, networks: writtenNetworks, fetchedKeys } = store;
  const network = networkOf(store);
  const changedKeys =
    previous === undefined
      ? new Set([...eachResource(store.resources)].map(([key]) => key))
      : withPodsOfNodes(changes.keys, before);
  const resources = resourcesAfter(previous?.resources, store, changedKeys);
  const isSame = resources === before.resources && before.fetchedKeys === fetchedKeys;
  const isSameMesh = previous?.mesh === mesh && previous.writtenNetworks === writtenNetworks;
  if (isSame && isSameMesh) return previous;

  const touched = touchedBetween(before.resources, resources, changedKeys);
  const aliases = aliasesAfter(before.aliases, touchedOf(touched, 'Service'), domain);
  const services = servicesAfter(before, aliases, touched, domain);
  const externalServices = externalServicesAfter(
    before.externalServices,
    touchedOf(touched, 'Service'),
  );
  const networks =
    writtenNetworks === before.writtenNetworks && externalServices === before.externalServices
      ? before.networks
      : sameOr(before.networks, withExternalGateways(writtenNetworks, externalServices, domain));
  const indexes = indexesAfter(before, touched);
  const isAll = previous?.mesh.trustDomain !== mesh.trustDomain || previous.network !== network;
  return {
    resources,
    mesh,
    network,
    networks,
    writtenNetworks,
    externalServices,
    gatewayClusters,
    fetchedKeys,
    services,
    aliases,
    ...indexes,
    ...endpointsAfter(
      before,
      { resources, mesh, network, services, ...indexes, domain },
      touched,
      isAll,
    ),
    ...virtualServicesAfter(before, resources, touchedOf(touched, 'VirtualService'), domain),
    destinationRules: rulesAfter(before.destinationRules, touched, domain),
    ...namespacedAfter(before, touched),
    workloadEntries: entriesAfter(before.workloadEntries, touched),
  };
}

/** Returns the networks as they were if they are equal: most Services are not gateways. */
const sameOr = (before: MeshNetworks, now: MeshNetworks): MeshNetworks =>
  isDeepStrictEqual(before, now) ? before : now;

function indexesAfter(before: Environment, touched: TouchedByKind): WorkloadIndexes {
  return {
    workloadsByLabel: byLabelAfter(
      before.workloadsByLabel,
      touchedOf(touched, 'WorkloadEntry'),
      labelsOfEntry,
      () => [],
    ),
    entriesByLabel: bySelectorAfter(
      before.entriesByLabel,
      touchedOf(touched, 'ServiceEntry'),
      selectorOf,
    ),
    servicesByLabel: bySelectorAfter(
      before.servicesByLabel,
      touchedOf(touched, 'Service'),
      podSelectorOf,
    ),
    pods: byLabelAfter(
      before.pods,
      touchedOf(touched, 'Pod'),
      labelsOfPod,
      ({ namespace, spec }) => [
        ...spec.addresses.map((address) => ['at', namespace, address]),
        onNode(spec.node),
      ],
    ),
    endpointSlices: reindexed(
      before.endpointSlices,
      touchedOf(touched, 'EndpointSlice'),
      ({ namespace, spec }) => [
        ['service', namespace, spec.service],
        ...podsOf(spec.endpoints).map((pod) => ['pod', namespace, pod]),
      ],
    ),
    endpointsOfPods: reindexed(
      before.endpointsOfPods,
      touchedOf(touched, 'Endpoints'),
      ({ namespace, spec }) =>
        podsOf(spec.subsets.flatMap(({ endpoints }) => endpoints)).map((pod) => [namespace, pod]),
    ),
    consulInstances: reindexed(
      before.consulInstances,
      touchedOf(touched, 'ConsulInstance'),
      ({ namespace, spec }) => [[namespace, spec.service]],
    ),
  };
}

/** Returns the resources that apply to the workloads of their namespace. */
function namespacedAfter(
  before: Environment,
  touched: TouchedByKind,
): Pick<
  Environment,
  'peerAuthentications' | 'accessPolicies' | 'telemetries' | 'gateways' | 'sidecars'
> {
  return {
    peerAuthentications: byNamespace(
      before.peerAuthentications,
      touchedOf(touched, 'PeerAuthentication'),
    ),
    accessPolicies: byNamespace<AccessPolicyKind>(before.accessPolicies, [
      ...touchedOf(touched, 'AuthorizationPolicy'),
      ...touchedOf(touched, 'RequestAuthentication'),
    ]),
    telemetries: byNamespace(before.telemetries, touchedOf(touched, 'Telemetry')),
    gateways: byNamespace(before.gateways, touchedOf(touched, 'Gateway')),
    sidecars: byNamespace(before.sidecars, touchedOf(touched, 'Sidecar')),
  };
}

/** Returns the names of the Pods of endpoints, each once. */
const podsOf = (endpoints: readonly SliceEndpoint[]): readonly string[] =>
  [...new Set(endpoints.map(({ pod }) => pod))].filter((pod) => pod !== '');

/** Returns the network of the root namespace: as in Istio, Pods are in it if they name none. */
function networkOf({ resources, mesh }: Store): string {
  const namespace = resourceAt(resources, namespaceKeyOf(mesh.rootNamespace));
  return namespace?.kind === 'Namespace' ? namespace.spec.network : '';
}

function resourcesAfter(
  before: Resources | undefined,
  store: Store,
  keys: ReadonlySet<ResourceKey>,
): Resources {
  if (before === undefined && !store.resources.has('Node')) return store.resources;
  const resources = before ?? store.resources;
  return withResources(
    resources,
    new Map([...keys].map((key) => [key, placedAt(store.resources, key, resources)])),
  );
}

function rulesAfter(
  before: Environment['destinationRules'],
  touched: TouchedByKind,
  domain: string,
): Environment['destinationRules'] {
  const full = (rule: Resource<'DestinationRule'> | undefined) =>
    rule === undefined ? [] : [withFullHost(rule, domain)];
  return replaced(before, touchedOf(touched, 'DestinationRule'), full, ({ spec }) => spec.host);
}

function entriesAfter(
  before: Environment['workloadEntries'],
  touched: TouchedByKind,
): Environment['workloadEntries'] {
  return reindexed(before, touchedOf(touched, 'WorkloadEntry'), ({ namespace, spec }) => [
    [namespace, spec.address],
  ]);
}

function byNamespace<K extends Kind>(
  before: SortedMap<readonly Resource<K>[]>,
  touched: readonly Touched<K>[],
): SortedMap<readonly Resource<K>[]> {
  return replaced(
    before,
    touched,
    (resource) => (resource === undefined ? [] : [resource]),
    ({ namespace }) => namespace,
  );
}

function replaced<K extends Kind>(
  before: SortedMap<readonly Resource<K>[]>,
  touched: readonly Touched<K>[],
  indexed: (resource: Resource<K> | undefined) => readonly Resource<K>[],
  groupOf: (resource: Resource<K>) => string,
): SortedMap<readonly Resource<K>[]> {
  if (touched.length === 0) return before;
  const keys = new Set(touched.map(({ key }) => key));
  const groups = touched.flatMap((change) => indexed(change.before)).map(groupOf);
  const added = touched.flatMap((change) => indexed(change.after));
  return regrouped(
    before,
    groups,
    (resource) => keys.has(keyOf(resource)),
    groupedBy(added, groupOf),
    byAge,
  );
}
