import { isLabel } from '../../istio/fields/host-names.ts';
import {
  type AnyResource,
  type Flaw,
  keyOf,
  type Origin,
  type Resource,
  type ResourceKey,
} from '../../istio/documents/model.ts';
import type { ReadInstances } from './read-instances.ts';

/** The names and places that the resources of a datacenter get. */
export interface ConsulPlace {
  /** The name of the source. */
  readonly source: string;
  readonly namespace: string;
  /** '' for the datacenter of the Consul at the address. */
  readonly datacenter: string;
  /** Returns the URL at which the instances of a service are read. */
  readonly urlOf: (service: string) => string;
}

/** The resources of a service. */
export interface ConsulResources {
  readonly resources: ReadonlyMap<ResourceKey, AnyResource>;
  readonly flaws: readonly Flaw[];
}

/** The largest number of flaws of one service. */
const mostFlaws = 5;

/** Whether a service can have a host. Consul's DNS does not serve any other name either. Pure. */
export const hasHost = (service: string): boolean => isLabel(service);

const originOf = ({ source, urlOf }: ConsulPlace, service: string): Origin => ({
  source,
  path: urlOf(service),
  line: 0,
});

const nameOf = ({ datacenter }: ConsulPlace, service: string): string =>
  datacenter === '' ? service : `${service}.${datacenter}`;

/** Returns the key of the resource that declares a service. Pure. */
const serviceKeyOf = (place: ConsulPlace, service: string): ResourceKey =>
  keyOf({ kind: 'ConsulService', namespace: place.namespace, name: nameOf(place, service) });

/** Returns a flaw of a service as a whole. Pure. */
export const serviceFlaw = (
  place: ConsulPlace,
  service: string,
  reason: string,
  severity: Flaw['severity'],
): Flaw => ({
  key: serviceKeyOf(place, service),
  origin: originOf(place, service),
  field: '',
  reason,
  severity,
});

/** Returns the resources of a service. A service without a port has none. Pure. */
export function consulResources(
  place: ConsulPlace,
  service: string,
  { ports, instances, problems }: ReadInstances,
): ConsulResources {
  const { namespace } = place;
  const origin = originOf(place, service);
  const host = `${service}.service.consul`.toLowerCase();
  const name = nameOf(place, service);
  const common = { namespace, labels: {}, annotations: {}, createdMs: 0 };
  const declared: Omit<Resource<'ConsulService'>, 'origin'> = {
    ...common,
    kind: 'ConsulService',
    name,
    spec: { host, ports },
  };
  const served = instances.map((instance): Omit<Resource<'ConsulInstance'>, 'origin'> => ({
    ...common,
    kind: 'ConsulInstance',
    name: `${name}/${instance.name}`,
    spec: { service: name, host, port: instance.port, workload: instance.workload },
  }));
  const resources = (ports.length === 0 ? [] : [declared, ...served]).map(
    (resource): AnyResource => ({ ...resource, origin }),
  );
  const shown =
    problems.length > mostFlaws
      ? [...problems.slice(0, mostFlaws - 1), `${problems.length - mostFlaws + 1} more problems`]
      : problems;
  return {
    resources: new Map(resources.map((resource) => [keyOf(resource), resource])),
    flaws: shown.map((reason) => serviceFlaw(place, service, reason, 'warning')),
  };
}
