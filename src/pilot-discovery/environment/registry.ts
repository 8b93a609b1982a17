// Why: docs/decisions/086-a-registry-sees-resources.md
import type { AnyResource } from '../istio/model.ts';
import type { ServicePort } from '../istio/service-entry.ts';
import type { Endpoint, Environment, Service } from './environment.ts';
import type { TouchedByKind } from './touched.ts';

/** What endpoints are made of: resources, services and indexes after the changes. */
export interface RegistryInputs extends Pick<
  Environment,
  | 'resources'
  | 'mesh'
  | 'services'
  | 'workloadsByLabel'
  | 'entriesByLabel'
  | 'servicesByLabel'
  | 'pods'
  | 'endpointSlices'
> {
  /** The hosts of Services of Kubernetes end with it. */
  readonly domain: string;
}

/** A service, as its key names it. */
export type NamedService = Pick<Service, 'namespace' | 'host'>;

/**
 * What makes services of resources of one kind, and finds their endpoints. It sees resources, and
 * never the file or the API that they come from: the same objects make the same services, whatever
 * source has them. Pure.
 */
export interface Registry {
  /** The services that a resource declares; none of a kind that is not its own. */
  readonly servicesOf: (resource: AnyResource, domain: string) => readonly Service[];
  /**
   * Its services whose endpoints may be others after changes, because of what they have changed
   * besides the resource that declares the service.
   */
  readonly servedAnew: (inputs: RegistryInputs, touched: TouchedByKind) => Iterable<NamedService>;
  /** Where a port of one of its services is served. */
  readonly endpointsOf: (
    inputs: RegistryInputs,
    service: Service,
    port: ServicePort,
  ) => readonly Endpoint[];
}
