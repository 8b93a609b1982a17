import type { EndpointReadiness } from './endpoint-slice.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ */
export interface Pod {
  /** Empty where it has none yet, or has ended. */
  readonly addresses: readonly string[];
  /** Name of a port of a container → number. */
  readonly ports: ReadonlyMap<string, number>;
  readonly serviceAccount: string;
  readonly readiness: EndpointReadiness;
  /** `region/zone/subzone`; '' where it is not known. */
  readonly locality: string;
  readonly network: string;
  /** The name of its node; '' where it has none. */
  readonly node: string;
  /** Of its Deployment or another owner, else its own. */
  readonly workloadName: string;
}
