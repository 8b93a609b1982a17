import { line, type LogLine } from '../../../shared/log/log-line.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import {
  answered,
  withRequest,
  noOutgoing,
  type OutgoingCounts,
  ofOutgoing,
} from '../outgoing-requests.ts';
import type { CaEvent } from './ca-secrets.ts';

/** The counts of requests to the authority. */
export type CaCounts = OutgoingCounts;

export const noCa: CaCounts = noOutgoing;

/** Counts one event. Pure. */
export function countCa(counts: CaCounts, event: CaEvent): CaCounts {
  if (event.type === 'asked') return withRequest(counts, event.isRetry);
  return answered(counts, { ok: event.type === 'issued', took: event.took });
}

/** Returns the counts as metrics. Pure. */
export function caFamilies(counts: CaCounts): readonly MetricFamily[] {
  return ofOutgoing('csr', counts);
}

/** Returns the log lines for the result of a request to an authority. Pure. */
export function narrateCa(event: CaEvent): readonly LogLine[] {
  if (event.type === 'asked') return [];
  const { took: tookMs, delay: delayMs } = event;
  if (event.type === 'issued') return [line('certificate.issued', { tookMs, delayMs })];
  const { reason, failures: attempt } = event;
  return [line('certificate.request_failed', { reason, attempt, tookMs, delayMs })];
}
