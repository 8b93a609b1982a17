// Why: docs/decisions/077-ports-are-joined-by-number.md
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { clusterId, type MeshConfig } from '../istio/mesh-config.ts';
import { keyOf, type Resource } from '../istio/model.ts';
import type { Labels } from '../istio/values.ts';
import type { ServicePort, Workload } from '../istio/service-entry.ts';
import { resourceAt } from './resources.ts';
import { byAge } from './age.ts';
import {
  type Endpoint,
  type Environment,
  type ServiceEndpoints,
  serviceKey,
} from './environment.ts';
import { indexKey } from './grouped.ts';
import { selectedBy, selecting } from './selectors.ts';
import type { Touched } from './touched.ts';

type Entry = Resource<'ServiceEntry'>;

/** What endpoints are made of. */
export type EndpointInputs = Pick<
  Environment,
  'resources' | 'mesh' | 'services' | 'workloadsByLabel' | 'entriesByLabel'
>;

type Endpoints = Pick<Environment, 'endpoints' | 'served'>;

/**
 * The endpoints of each service after changes of ServiceEntries and WorkloadEntries; `isAll` makes
 * those of every service anew. A list that is equal to that before is the same object.
 */
export function endpointsAfter(
  before: Endpoints,
  inputs: EndpointInputs,
  entries: readonly Touched<'ServiceEntry'>[],
  workloads: readonly Touched<'WorkloadEntry'>[],
  isAll: boolean,
): Endpoints {
  const names = new Map([
    ...(isAll ? allServices(inputs) : []),
    ...touchedServices(inputs, entries, workloads),
  ]);
  const edits = new Map<string, ServiceEndpoints | undefined>();
  const served = new Map<string, string | undefined>();
  for (const [name, host] of names) {
    const old = before.endpoints.get(name);
    const now = endpointsOf(name, host, inputs, old);
    if (now === old) continue;
    edits.set(name, now);
    for (const address of addressesOf(old)) served.set(indexKey(address, name), undefined);
    for (const address of addressesOf(now)) served.set(indexKey(address, name), name);
  }
  return { endpoints: before.endpoints.with(edits), served: before.served.with(served) };
}

const addressesOf = (endpoints: ServiceEndpoints | undefined): readonly string[] =>
  [...(endpoints?.values() ?? [])].flatMap((list) => list.map(({ address }) => address));

/** Key of the service → host. */
type Names = ReadonlyMap<string, string>;

const namesOf = ({ namespace, spec }: Entry) =>
  spec.hosts.map((host) => [serviceKey({ namespace, host }), host] as const);

function allServices({ services }: EndpointInputs): Names {
  return new Map(
    [...services.values()].flat().map((service) => [serviceKey(service), service.host]),
  );
}

function touchedServices(
  { entriesByLabel }: EndpointInputs,
  entries: readonly Touched<'ServiceEntry'>[],
  workloads: readonly Touched<'WorkloadEntry'>[],
): Names {
  const names = new Map<string, string>();
  const add = (entry: Entry | undefined) => {
    if (entry !== undefined) for (const [name, host] of namesOf(entry)) names.set(name, host);
  };
  for (const { before, after } of entries) [before, after].forEach(add);
  for (const { before, after } of workloads)
    for (const one of [before, after])
      if (one !== undefined)
        for (const entry of selecting(entriesByLabel, one.namespace, one.spec.labels)) add(entry);
  return names;
}

/**
 * Of several entries of a namespace with the host that are resolved alike, each port has what is
 * served under its number. The name of a port is that of its entry alone.
 */
function endpointsOf(
  name: string,
  host: string,
  { resources, mesh, services, workloadsByLabel }: EndpointInputs,
  old: ServiceEndpoints | undefined,
): ServiceEndpoints | undefined {
  const same = (services.get(host) ?? []).filter((service) => serviceKey(service) === name);
  const entries = same
    .filter(({ resolution }) => resolution === same[0]?.resolution)
    .map(({ key }) => resourceAt(resources, key))
    .filter((entry): entry is Entry => entry?.kind === 'ServiceEntry');
  if (entries.length === 0) return undefined;

  const byPort = new Map<number, readonly Endpoint[]>();
  for (const port of entries.flatMap(({ spec }) => spec.ports)) {
    if (byPort.has(port.number)) continue;
    const served = entries.flatMap((entry) => {
      const its = entry.spec.ports.find((one) => one.number === port.number);
      return its === undefined ? [] : servedBy(entry, host, its, mesh, workloadsByLabel);
    });
    const before = old?.get(port.number);
    byPort.set(
      port.number,
      before !== undefined && isDeepStrictEqual(before, served) ? before : served,
    );
  }
  const isSame =
    old?.size === byPort.size && [...byPort].every(([number, list]) => old.get(number) === list);
  return isSame ? old : byPort;
}

function servedBy(
  entry: Entry,
  host: string,
  port: ServicePort,
  { trustDomain }: MeshConfig,
  workloads: Environment['workloadsByLabel'],
): readonly Endpoint[] {
  const { namespace, spec } = entry;
  if (spec.resolution === 'none' && spec.workloadSelector === undefined) return [];
  const key = keyOf(entry);
  const identityOf = ({ serviceAccount }: Workload) =>
    serviceAccount === '' ? '' : `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
  if (spec.workloadSelector !== undefined) {
    // Envoy has names looked up in clusters of DNS alone.
    const isUsable = ({ address }: Workload) =>
      address !== '' &&
      (spec.resolution.startsWith('dns') || address.startsWith(unix) || isIP(address) !== 0);
    return selectedBy(workloads, namespace, spec.workloadSelector)
      .filter((one) => isUsable(one.spec))
      .sort(byAge)
      .map((one) =>
        endpointOf(one.spec, port, identityOf(one.spec), {
          namespace,
          workloadName: one.name,
          key: keyOf(one),
        }),
      );
  }
  if (spec.endpoints.length > 0) {
    return spec.endpoints
      .filter(({ address }) => address !== '')
      .map((one) =>
        endpointOf(one, port, identityOf(one), { namespace: '', workloadName: '', key }),
      );
  }
  return spec.resolution === 'static'
    ? []
    : [
        endpointOf({ ...itself, address: host }, port, '', {
          namespace: '',
          workloadName: '',
          key,
        }),
      ];
}

/** What DNS tells of a host, where nothing else is said. */
const itself: Workload = {
  address: '',
  ports: {},
  labels: {},
  network: '',
  locality: '',
  weight: 0,
  serviceAccount: '',
};

const unix = 'unix://';

function endpointOf(
  workload: Workload,
  port: ServicePort,
  identity: string,
  origin: Pick<Endpoint, 'namespace' | 'workloadName' | 'key'>,
): Endpoint {
  const { address, ports, network, locality, weight } = workload;
  const isPath = address.startsWith(unix);
  return {
    address: isPath ? address.slice(unix.length) : address,
    port: isPath
      ? 0
      : ((Object.hasOwn(ports, port.name) ? ports[port.name] : undefined) ??
        port.targetPort ??
        port.number),
    labels: { ...workload.labels, ...localityLabels(workload) },
    network,
    locality,
    weight,
    identity,
    tlsMode: tlsModeOf(workload),
    ...origin,
  };
}

/** As in Istio: what the label says, else whoever has an account can do mutual TLS. */
function tlsModeOf({ labels, serviceAccount }: Workload): Endpoint['tlsMode'] {
  const said = labels['security.istio.io/tlsMode'];
  return said === 'istio' || (said === undefined && serviceAccount !== '') ? 'istio' : 'disabled';
}

/** Subsets may choose by these. Each says where the endpoint is, whatever its own labels say. */
function localityLabels({ locality, network }: Workload): Labels {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  const labels = {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': zone,
    'topology.istio.io/subzone': subzone,
    'topology.istio.io/network': network,
    'topology.istio.io/cluster': clusterId,
  };
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
}
