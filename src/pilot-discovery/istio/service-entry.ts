import type { ExportTo, Labels, Protocol, Selector } from './values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/service-entry/ */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  /** Addresses or CIDRs; empty where there are none. */
  readonly addresses: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly location: 'external' | 'internal';
  readonly resolution: 'none' | 'static' | 'dns' | 'dns-round-robin';
  readonly endpoints: readonly Workload[];
  /** Undefined where there is none: `endpoints` then tell the endpoints. */
  readonly workloadSelector: Selector;
  readonly subjectAltNames: readonly string[];
  readonly exportTo: ExportTo;
}

export interface ServicePort {
  readonly number: number;
  readonly name: string;
  readonly protocol: Protocol;
  /** Undefined where it is that of the endpoint, or `number`. */
  readonly targetPort: number | undefined;
}

/** Where a service runs: an entry of `endpoints`, or a WorkloadEntry. */
export interface Workload {
  /** An IP address, a name, or `unix:///path`. */
  readonly address: string;
  /** Name of a port of the service → number at this address. */
  readonly ports: Readonly<Record<string, number>>;
  readonly labels: Labels;
  readonly network: string;
  /** `region/zone/subzone`; '' where it is not said. */
  readonly locality: string;
  /** 0 where it is not said. */
  readonly weight: number;
  readonly serviceAccount: string;
}

/** https://istio.io/v1.26/docs/reference/config/networking/workload-entry/ */
export type WorkloadEntry = Workload;
