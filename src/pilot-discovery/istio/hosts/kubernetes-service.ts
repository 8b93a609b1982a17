import type { ServicePort } from './service-entry.ts';
import type { TrafficDistribution } from './traffic-distribution.ts';
import type { ExportTo, Labels } from '../fields/values.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/ */
export interface KubernetesService {
  readonly reached: ReachedBy;
  /** The ports with TCP. */
  readonly ports: readonly KubernetesPort[];
  /** Undefined if it has no selector: then only EndpointSlices or Endpoints have its endpoints. */
  readonly selector: Labels | undefined;
  /** Whether endpoints that are not ready get calls too (`publishNotReadyAddresses`). */
  readonly called: 'ready' | 'all';
  /** Its IP addresses outside of the cluster: those of load balancers, and `externalIPs`. */
  readonly external: readonly string[];
  readonly exportTo: ExportTo;
  /** Names that are valid in certificates, in addition to those of its endpoints. */
  readonly subjectAltNames: readonly string[];
  /** Further service accounts of its namespace that its endpoints may have. */
  readonly serviceAccounts: readonly string[];
  readonly trafficDistribution: TrafficDistribution;
}

/** How callers reach a Service: at its cluster IPs, at each endpoint, or as another host. */
export type ReachedBy =
  /** Empty if no address is assigned. */
  | { readonly type: 'addresses'; readonly addresses: readonly string[] }
  | { readonly type: 'headless' }
  | { readonly type: 'alias'; readonly host: string };

export interface KubernetesPort extends ServicePort {
  /** The number of the port at a Pod, or its name there. */
  readonly atPod: number | string;
}
