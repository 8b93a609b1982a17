import type { ServicePort } from './service-entry.ts';
import type { ExportTo, Labels } from './values.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/ */
export interface KubernetesService {
  readonly reached: ReachedBy;
  /** Those of TCP. */
  readonly ports: readonly KubernetesPort[];
  /** Undefined where it selects nothing: EndpointSlices alone tell its endpoints. */
  readonly selector: Labels | undefined;
  /** Whether endpoints that are not ready are called too (`publishNotReadyAddresses`). */
  readonly called: 'ready' | 'all';
  readonly exportTo: ExportTo;
  /** Names in certificates that are right besides those of its endpoints. */
  readonly subjectAltNames: readonly string[];
}

/** How callers reach a Service: at its cluster IPs, at each endpoint, or as another host. */
export type ReachedBy =
  /** Empty where it has none: nobody has assigned one. */
  | { readonly type: 'addresses'; readonly addresses: readonly string[] }
  | { readonly type: 'headless' }
  | { readonly type: 'alias'; readonly host: string };

export interface KubernetesPort extends ServicePort {
  /** The number of the port at a Pod, or its name there. */
  readonly atPod: number | string;
}
