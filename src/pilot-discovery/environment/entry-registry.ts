import { isIP } from 'node:net';
import { keyOf, type Resource } from '../istio/documents/model.ts';
import type { ServicePort, Workload } from '../istio/hosts/service-entry.ts';
import type { Labels } from '../istio/fields/values.ts';
import type { Endpoint, Service } from './environment.ts';
import type { NamedService, Registry, RegistryInputs } from './registry.ts';
import { resourceAt } from './resources.ts';
import { selectedBy, selecting } from './selectors.ts';
import { touchedWorkloads } from './touched-workloads.ts';
import {
  entryEndpoint,
  identityOf,
  isSocket,
  labelsOfEntry,
  labelsOfPod,
  podEndpoint,
  portNamed,
  workloadEndpoint,
} from './workload-endpoint.ts';

type Entry = Resource<'ServiceEntry'>;

/** Services of ServiceEntries, at their own endpoints, at WorkloadEntries or at Pods. */
export const entryRegistry: Registry = {
  servicesOf(resource) {
    if (resource.kind !== 'ServiceEntry') return [];
    const { namespace, labels, createdMs, spec } = resource;
    const { addresses, ports, location, resolution, subjectAltNames, exportTo } = spec;
    const { trafficDistribution } = spec;
    const key = keyOf(resource);
    return [...new Set(spec.hosts)].map((host): Service => ({
      host,
      name: host,
      namespace,
      registry: 'ServiceEntry',
      addresses,
      aliases: [],
      ports,
      location,
      resolution,
      subjectAltNames,
      serviceAccounts: [],
      trafficDistribution,
      exportTo,
      labels,
      createdMs,
      key,
    }));
  },

  *affectedServices({ entriesByLabel }, touched): Generator<NamedService, undefined> {
    for (const { namespace, labels } of touchedWorkloads(touched))
      for (const entry of selecting(entriesByLabel, selectorOf, namespace, labels))
        for (const host of entry.spec.hosts) yield { namespace, host };
  },

  endpointsOf(inputs, { key, host }, { number }) {
    const entry = resourceAt(inputs.resources, key);
    if (entry?.kind !== 'ServiceEntry') return [];
    const port = entry.spec.ports.find((servicePort) => servicePort.number === number);
    if (port === undefined) return [];
    const { namespace, spec } = entry;
    if (spec.workloadSelector !== undefined)
      return selected(inputs, entry, spec.workloadSelector, port);
    if (spec.resolution === 'none') return [];
    const origin = { namespace: '', workloadName: '', key };
    if (spec.endpoints.length > 0)
      return spec.endpoints
        .filter(isSomewhere)
        .map((endpoint) =>
          workloadEndpoint(
            endpoint,
            portOf(endpoint, port),
            identityOf(inputs.mesh.trustDomain, namespace, endpoint.serviceAccount),
            origin,
          ),
        );
    return spec.resolution.startsWith('dns')
      ? [workloadEndpoint({ ...itself, address: host }, portOf(itself, port), '', origin)]
      : [];
  },
};

/** Without an address a workload is reached through the gateways of its network. */
const isSomewhere = ({ address, network }: Workload): boolean => address !== '' || network !== '';

/** Returns the selector by which {@link bySelectorAfter} indexes ServiceEntries. */
export const selectorOf = ({ spec }: Entry): Labels | undefined => spec.workloadSelector;

const portOf = (workload: Workload, { name, targetPort, number }: ServicePort): number =>
  portNamed(workload, name) ?? targetPort ?? number;

function selected(
  inputs: RegistryInputs,
  { namespace, spec }: Entry,
  selector: Labels,
  port: ServicePort,
): readonly Endpoint[] {
  // Envoy resolves names only in DNS clusters.
  const isUsable = (workload: Workload) =>
    workload.address === ''
      ? spec.resolution !== 'none' && isSomewhere(workload)
      : spec.resolution.startsWith('dns') || isSocket(workload) || isIP(workload.address) !== 0;
  const { mesh, workloadsByLabel, pods } = inputs;
  const entries = selectedBy(workloadsByLabel, labelsOfEntry, namespace, selector)
    .filter((workloadEntry) => isUsable(workloadEntry.spec))
    .map((workloadEntry) => entryEndpoint(workloadEntry, portOf(workloadEntry.spec, port), mesh));
  const ofPods = selectedBy(pods, labelsOfPod, namespace, selector).flatMap((pod) =>
    pod.spec.addresses
      .slice(0, 1)
      .map((address) =>
        podEndpoint(pod, address, port.targetPort ?? port.number, inputs, keyOf(pod)),
      ),
  );
  return [...entries, ...ofPods];
}

/** The workload of a host that DNS resolves, if the ServiceEntry has no endpoints. */
const itself: Workload = {
  address: '',
  ports: {},
  labels: {},
  network: '',
  locality: '',
  weight: 0,
  serviceAccount: '',
};
