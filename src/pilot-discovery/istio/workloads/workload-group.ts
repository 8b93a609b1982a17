import type { Labels } from '../fields/values.ts';
import type { Workload } from '../hosts/service-entry.ts';

/**
 * A WorkloadGroup resource. When a machine registers itself, istiod makes a WorkloadEntry from it.
 * The resource itself is not a workload.
 * https://istio.io/v1.26/docs/reference/config/networking/workload-group/
 */
export interface WorkloadGroup {
  /** The labels of its WorkloadEntries. */
  readonly labels: Labels;
  /** It usually has no address. */
  readonly template: Workload;
  readonly probe: WorkloadProbe | undefined;
}

/** The health check that the agent of a machine makes. Times are in s; 0 if they are not given. */
export interface WorkloadProbe {
  readonly method: ProbeMethod | undefined;
  readonly initialDelay: number;
  readonly timeout: number;
  readonly period: number;
  readonly successes: number;
  readonly failures: number;
}

export type ProbeMethod = 'httpGet' | 'tcpSocket' | 'exec' | 'grpc';
