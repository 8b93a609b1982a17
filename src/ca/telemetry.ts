import type { LogLine } from '../log/log-line.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { CaEvent } from './ca-secrets.ts';

/** Requests to the authority so far, and how long they took in all, in ms. */
export interface CaCounts {
  readonly requests: number;
  readonly failures: number;
  readonly took: number;
}

export const noCa: CaCounts = { requests: 0, failures: 0, took: 0 };

/** Counts one event. Pure. */
export function countCa({ requests, failures, took }: CaCounts, event: CaEvent): CaCounts {
  return { requests: requests + 1, failures: failures + Number(event.type === 'request-failed'), took: took + event.took };
}

const labels = { request_type: 'csr' };

/** The counts as metrics, under the names of the Go agent where it has them. Pure. */
export function caFamilies({ requests, failures, took }: CaCounts): readonly MetricFamily[] {
  return [
    {
      name: 'istio_agent_num_outgoing_requests_total',
      type: 'counter',
      help: 'Requests for a certificate',
      samples: [{ labels, value: requests }],
    },
    {
      name: 'istio_agent_num_failed_outgoing_requests_total',
      type: 'counter',
      help: 'Requests for a certificate that failed',
      samples: [{ labels, value: failures }],
    },
    {
      name: 'istio_agent_outgoing_latency_ms_total',
      type: 'counter',
      help: 'How long all these requests took, in ms',
      samples: [{ labels, value: took }],
    },
  ];
}

/** What there is to say of a request to an authority. Pure. */
export function narrateCa(event: CaEvent): LogLine {
  const { took: tookMs, delay: delayMs } = event;
  if (event.type === 'issued')
    return { level: 'info', event: 'certificate.issued', msg: 'certificate issued: the next one is asked for in time', tookMs, delayMs };
  const { reason, failures: attempt } = event;
  return {
    level: 'error',
    event: 'certificate.request_failed',
    msg: 'certificate request failed, and is tried again',
    reason,
    attempt,
    tookMs,
    delayMs,
  };
}
