import type { MetricFamily } from '../status/metric-family.ts';
import type { CaCounts } from './count-ca.ts';

const labels = { request_type: 'csr' };

/** The counts as metrics, under the names of the Go agent where it has them. Pure. */
export function caFamilies({ requests, failures, took }: CaCounts): readonly MetricFamily[] {
  return [
    {
      name: 'istio_agent_num_outgoing_requests_total',
      type: 'counter',
      help: 'Requests to the certificate authority',
      samples: [{ labels, value: requests }],
    },
    {
      name: 'istio_agent_num_failed_outgoing_requests_total',
      type: 'counter',
      help: 'Those of them that failed',
      samples: [{ labels, value: failures }],
    },
    {
      name: 'istio_agent_outgoing_latency_ms_total',
      type: 'counter',
      help: 'How long they took in all',
      samples: [{ labels, value: took }],
    },
  ];
}
