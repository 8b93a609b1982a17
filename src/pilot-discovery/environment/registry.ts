// Why: docs/decisions/086-a-registry-sees-resources.md
import type { AnyResource } from '../istio/documents/model.ts';
import type { ServicePort } from '../istio/hosts/service-entry.ts';
import type { Endpoint, Environment, Service } from './environment.ts';
import type { TouchedByKind } from './touched.ts';

/** The indexes of workloads, and of the resources that select or list workloads. */
export type WorkloadIndexes = Pick<
  Environment,
  | 'workloadsByLabel'
  | 'entriesByLabel'
  | 'servicesByLabel'
  | 'pods'
  | 'endpointSlices'
  | 'endpointsOfPods'
  | 'consulInstances'
>;

/** The inputs for endpoints: resources, services and indexes after the changes. */
export interface RegistryInputs
  extends WorkloadIndexes, Pick<Environment, 'resources' | 'mesh' | 'network' | 'services'> {
  /** The hosts of Services of Kubernetes end with it. */
  readonly domain: string;
}

/** The parts of a service from which `serviceKey` makes its key. */
export type NamedService = Pick<Service, 'namespace' | 'host'>;

/**
 * Makes services from resources of one kind, and finds their endpoints. It sees resources, and
 * never the file or the API from which they come: equal objects make equal services, whatever their
 * source is. Pure.
 */
export interface Registry {
  /** Returns the services that a resource declares; none for a resource of another kind. */
  readonly servicesOf: (resource: AnyResource, domain: string) => readonly Service[];
  /**
   * Returns the services of this registry whose endpoints may have changed because of other
   * resources than the one that declares the service.
   */
  readonly affectedServices: (
    inputs: RegistryInputs,
    touched: TouchedByKind,
  ) => Iterable<NamedService>;
  /** Returns the endpoints of one port of a service of this registry. */
  readonly endpointsOf: (
    inputs: RegistryInputs,
    service: Service,
    port: ServicePort,
  ) => readonly Endpoint[];
}
