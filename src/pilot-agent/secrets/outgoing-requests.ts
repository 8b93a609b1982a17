import { emptyHistogram, type Histogram, observed } from '../../operators/histogram.ts';
import { goCounter, histogram, type MetricFamily } from '../../shared/metrics/metric-family.ts';

/** Counts of the agent's requests to other servers, of one kind. */
export interface OutgoingCounts {
  readonly requests: number;
  /** Requests that followed a failed one. */
  readonly retries: number;
  readonly failures: number;
  readonly latency: Histogram;
}

export const noOutgoing: OutgoingCounts = {
  requests: 0,
  retries: 0,
  failures: 0,
  latency: emptyHistogram([0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]),
};

/** Counts one more request. Pure. */
export function withRequest(counts: OutgoingCounts, isRetry: boolean): OutgoingCounts {
  return { ...counts, requests: counts.requests + 1, retries: counts.retries + Number(isRetry) };
}

/** Counts the result of one request, after `took` ms. Pure. */
export function answered(
  counts: OutgoingCounts,
  { ok, took }: { readonly ok: boolean; readonly took: number },
): OutgoingCounts {
  return {
    ...counts,
    failures: counts.failures + Number(!ok),
    latency: observed(counts.latency, took),
  };
}

/**
 * Returns the counts as metrics, under the names of the Go agent if it has them: its latency is
 * only a sum, in ms. Pure.
 */
export function ofOutgoing(
  kind: 'csr',
  { requests, retries, failures, latency }: OutgoingCounts,
): readonly MetricFamily[] {
  const labels = { request_type: kind };
  const sum = (name: string, help: string, value: number) =>
    goCounter(name, help, [{ labels, value }]);
  return [
    sum('num_outgoing_requests', 'Requests of the agent to others, by kind', requests),
    sum('num_outgoing_retries', 'Retries of requests to others', retries),
    sum('num_failed_outgoing_requests', 'Requests to others that failed', failures),
    sum(
      'outgoing_latency',
      'Total duration of requests to others, in ms',
      Math.round(latency.sum * 1_000),
    ),
    histogram('outgoing_latency_seconds', 'Duration of a request to others', latency, labels),
  ];
}
