import type { TrafficDistribution } from './traffic-distribution.ts';
import type { ExportTo, Labels, Protocol, Selector } from '../fields/values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/service-entry/ */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  /** Addresses or CIDRs; empty if there are none. */
  readonly addresses: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly location: 'external' | 'internal';
  readonly resolution: Resolution;
  readonly endpoints: readonly Workload[];
  /** Undefined if there is none: then `endpoints` has the endpoints. */
  readonly workloadSelector: Selector;
  readonly subjectAltNames: readonly string[];
  readonly exportTo: ExportTo;
  readonly trafficDistribution: TrafficDistribution;
}

/** The way to the endpoints of a host. `dynamic-dns`: Envoy resolves the name of each call. */
export type Resolution = 'none' | 'static' | 'dns' | 'dns-round-robin' | 'dynamic-dns';

export interface ServicePort {
  readonly number: number;
  readonly name: string;
  readonly protocol: Protocol;
  /** The port at endpoints that have no port of their own; undefined for `number`. */
  readonly targetPort: number | undefined;
}

/** The place where a service runs: an entry of `endpoints`, or a WorkloadEntry. */
export interface Workload {
  /** An IP address, a name, or `unix:///path`. */
  readonly address: string;
  /** The port numbers at this address, by the name of the service's port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly labels: Labels;
  readonly network: string;
  /** `region/zone/subzone`; '' if it is not given. */
  readonly locality: string;
  /** 0 if it is not given. */
  readonly weight: number;
  readonly serviceAccount: string;
}

/** https://istio.io/v1.26/docs/reference/config/networking/workload-entry/ */
export type WorkloadEntry = Workload;
