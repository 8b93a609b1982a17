import type { EndpointReadiness } from './endpoint-slice.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ */
export interface Pod {
  /** Empty if it has none yet, or has ended. */
  readonly addresses: readonly string[];
  /** The numbers of its containers' ports, by name. */
  readonly ports: ReadonlyMap<string, number>;
  readonly serviceAccount: string;
  readonly readiness: EndpointReadiness;
  /** `region/zone/subzone`; '' if it is not known. */
  readonly locality: string;
  readonly network: string;
  /** The name of its node; '' if it has none. */
  readonly node: string;
  /** The name of its Deployment or of another owner; else its own name. */
  readonly workloadName: string;
}
