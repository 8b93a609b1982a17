import type { ServicePort, Workload } from './service-entry.ts';

/** A service in the catalog of a datacenter of Consul. */
export interface ConsulService {
  /** `NAME.service.consul`, in lower case. */
  readonly host: string;
  /** The ports of its instances, sorted by number. */
  readonly ports: readonly ServicePort[];
}

/** An instance of a service that has no critical check. */
export interface ConsulInstance {
  /** The name of the {@link ConsulService}, in the same namespace. */
  readonly service: string;
  /** The host of the service. */
  readonly host: string;
  /** The only port of the instance. */
  readonly port: number;
  readonly workload: Workload;
}
