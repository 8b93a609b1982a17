import { isIP } from 'node:net';
import type { EndpointSubset } from '../istio/hosts/endpoint-slice.ts';
import { keyOf, type Resource, type ResourceKey } from '../istio/documents/model.ts';
import type { KubernetesPort } from '../istio/hosts/kubernetes-service.ts';
import type { ServicePort } from '../istio/hosts/service-entry.ts';
import type { Labels } from '../istio/fields/values.ts';
import { byAge } from './age.ts';
import type { Endpoint, Service } from './environment.ts';
import { entriesBy } from './grouped.ts';
import { kubernetesHost } from './kubernetes-host.ts';
import { localityLabels } from './locality-labels.ts';
import type { NamedService, Registry, RegistryInputs } from './registry.ts';
import { resourceAt } from './resources.ts';
import { selectedBy, selecting } from './selectors.ts';
import { touchedOf } from './touched.ts';
import { touchedWorkloads } from './touched-workloads.ts';
import {
  entryEndpoint,
  isSocket,
  labelsOfEntry,
  labelsOfPod,
  podEndpoint,
  portNamed,
} from './workload-endpoint.ts';

/**
 * The registry of Kubernetes. A Service has the endpoints of its EndpointSlices. If it has no
 * slices, it has those of its Endpoints. If it has neither, it has the Pods that it selects.
 * (Kubernetes would make EndpointSlices of both.) It also has the WorkloadEntries that it selects.
 */
export const kubernetesRegistry: Registry = {
  servicesOf(resource, domain) {
    if (resource.kind !== 'Service' || resource.spec.reached.type === 'alias') return [];
    const { name, namespace, labels, createdMs, spec } = resource;
    const { reached, ports, exportTo, trafficDistribution } = spec;
    const { subjectAltNames, serviceAccounts } = spec;
    const service: Service = {
      host: kubernetesHost(name, namespace, domain),
      name,
      namespace,
      registry: 'Service',
      addresses: reached.type === 'addresses' ? reached.addresses : [],
      aliases: [],
      ports: ports.map(portOf),
      location: 'internal',
      // A proxy forwards to a headless service at the address that the caller has looked up.
      resolution: reached.type === 'headless' ? 'none' : 'static',
      subjectAltNames,
      serviceAccounts,
      trafficDistribution,
      exportTo,
      labels,
      createdMs,
      key: keyOf(resource),
    };
    return [service];
  },

  *affectedServices(inputs, touched): Generator<NamedService, undefined> {
    const { domain, endpointSlices, endpointsOfPods, servicesByLabel } = inputs;
    const named = (name: string, namespace: string): NamedService => ({
      namespace,
      host: kubernetesHost(name, namespace, domain),
    });
    for (const { before, after } of touchedOf(touched, 'EndpointSlice'))
      for (const slice of [before, after])
        if (slice !== undefined) yield named(slice.spec.service, slice.namespace);
    for (const { before, after } of touchedOf(touched, 'Endpoints')) {
      const endpoints = after ?? before;
      if (endpoints !== undefined) yield named(endpoints.name, endpoints.namespace);
    }
    for (const { before, after } of touchedOf(touched, 'Pod')) {
      const pod = after ?? before;
      if (pod === undefined) continue;
      for (const slice of entriesBy(endpointSlices, 'pod', pod.namespace, pod.name))
        yield named(slice.spec.service, slice.namespace);
      for (const endpoints of entriesBy(endpointsOfPods, pod.namespace, pod.name))
        yield named(endpoints.name, endpoints.namespace);
    }
    for (const { namespace, labels } of touchedWorkloads(touched))
      for (const service of selecting(servicesByLabel, podSelectorOf, namespace, labels))
        yield named(service.name, service.namespace);
  },

  endpointsOf(inputs, { key, name, namespace }, { number }) {
    const service = resourceAt(inputs.resources, key);
    if (service?.kind !== 'Service') return [];
    const port = service.spec.ports.find((servicePort) => servicePort.number === number);
    if (port === undefined) return [];
    const { selector, called } = service.spec;
    const subsets = writtenSubsets(inputs, namespace, name);
    const endpoints = [
      ...writtenEndpoints(inputs, subsets, port),
      ...(selector === undefined ? [] : selectedEntries(inputs, namespace, selector, port)),
      ...(selector === undefined || subsets.length > 0
        ? []
        : selectedPods(inputs, namespace, selector, port)),
    ];
    return called === 'ready'
      ? endpoints
      : endpoints.map((endpoint) => ({ ...endpoint, readiness: 'ready' }));
  },
};

/** Returns the selector by which {@link bySelectorAfter} indexes Services. */
export const podSelectorOf = ({ spec }: Resource<'Service'>): Labels | undefined => spec.selector;

const portOf = ({ number, name, protocol, targetPort }: ServicePort): ServicePort => ({
  number,
  name,
  protocol,
  targetPort,
});

/** Endpoints with their ports, as an EndpointSlice or Endpoints list them. */
interface WrittenSubset extends EndpointSubset {
  readonly namespace: string;
  readonly key: ResourceKey;
}

/**
 * Returns the subsets of a Service: those of its EndpointSlices, the oldest first. If it has none,
 * returns those of its Endpoints, of which Kubernetes would make EndpointSlices.
 */
function writtenSubsets(
  { endpointSlices, resources }: RegistryInputs,
  namespace: string,
  name: string,
): readonly WrittenSubset[] {
  const slices = [...entriesBy(endpointSlices, 'service', namespace, name)].sort(byAge);
  if (slices.length > 0)
    return slices.map((slice) => ({ ...slice.spec, namespace, key: keyOf(slice) }));
  const key = keyOf({ kind: 'Endpoints', namespace, name });
  const endpoints = resourceAt(resources, key);
  return endpoints?.kind === 'Endpoints'
    ? endpoints.spec.subsets.map((subset) => ({ ...subset, namespace, key }))
    : [];
}

function writtenEndpoints(
  inputs: RegistryInputs,
  subsets: readonly WrittenSubset[],
  port: KubernetesPort,
): readonly Endpoint[] {
  // While an endpoint moves from one slice to another, both may list it.
  const seenAddresses = new Set<string>();
  return subsets.flatMap(({ ports, endpoints, namespace, key }) => {
    const slicePort = ports.find(({ name }) => name === port.name);
    if (slicePort === undefined) return [];
    return endpoints.flatMap(({ addresses, readiness, pod: name }) => {
      const pod =
        name === ''
          ? undefined
          : resourceAt(inputs.resources, keyOf({ kind: 'Pod', namespace, name }));
      // As in Istio, the endpoint waits for its Pod, which has its account and its labels.
      if (name !== '' && pod?.kind !== 'Pod') return [];
      const newAddresses = addresses.filter(
        (address) => !seenAddresses.has(`${address} ${slicePort.number}`),
      );
      for (const address of newAddresses) seenAddresses.add(`${address} ${slicePort.number}`);
      return newAddresses.map((address): Endpoint =>
        pod?.kind === 'Pod'
          ? { ...podEndpoint(pod, address, slicePort.number, inputs, key), readiness }
          : {
              ...addressAlone(inputs.network),
              ...{ address, port: slicePort.number, readiness, key },
            },
      );
    });
  });
}

/** Returns the fields that an EndpointSlice does not give, for an endpoint without a Pod. */
const addressAlone = (network: string) =>
  ({
    labels: localityLabels('', network),
    network,
    locality: '',
    weight: 0,
    identity: '',
    tlsMode: 'disabled',
    namespace: '',
    workloadName: '',
  }) as const;

function selectedEntries(
  { mesh, workloadsByLabel }: RegistryInputs,
  namespace: string,
  selector: Labels,
  { name, atPod }: KubernetesPort,
): readonly Endpoint[] {
  return selectedBy(workloadsByLabel, labelsOfEntry, namespace, selector).flatMap((entry) => {
    const port =
      typeof atPod === 'string'
        ? portNamed(entry.spec, atPod)
        : (portNamed(entry.spec, name) ?? atPod);
    // Envoy does not resolve names in the clusters of a Kubernetes Service.
    const isUsable = isSocket(entry.spec) || isIP(entry.spec.address) !== 0;
    return port === undefined || !isUsable ? [] : [entryEndpoint(entry, port, mesh)];
  });
}

function selectedPods(
  inputs: RegistryInputs,
  namespace: string,
  selector: Labels,
  { atPod }: KubernetesPort,
): readonly Endpoint[] {
  return selectedBy(inputs.pods, labelsOfPod, namespace, selector).flatMap((pod) => {
    const port = typeof atPod === 'number' ? atPod : pod.spec.ports.get(atPod);
    return port === undefined
      ? []
      : pod.spec.addresses
          .slice(0, 1)
          .map((address) => podEndpoint(pod, address, port, inputs, keyOf(pod)));
  });
}
