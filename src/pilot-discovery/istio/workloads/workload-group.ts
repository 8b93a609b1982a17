import type { Labels } from '../fields/values.ts';
import type { Workload } from '../hosts/service-entry.ts';

/**
 * A WorkloadGroup resource: what istiod makes a WorkloadEntry of when a machine registers itself.
 * It is not a workload itself.
 * https://istio.io/v1.26/docs/reference/config/networking/workload-group/
 */
export interface WorkloadGroup {
  /** The labels of its WorkloadEntries. */
  readonly labels: Labels;
  /** Mostly without an address. */
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
