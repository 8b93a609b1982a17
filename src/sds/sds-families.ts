import type { MetricFamily } from '../status/metric-family.ts';
import type { SdsCounts } from './count-sds.ts';

/** The counts as metrics, under the names of the Go agent where it has them. Pure. */
export function sdsFamilies({ streams, pushes, accepted, rejected }: SdsCounts): readonly MetricFamily[] {
  return [
    {
      name: 'istio_agent_total_active_connections',
      type: 'gauge',
      help: 'Streams on which Envoy takes secrets',
      samples: [{ value: streams }],
    },
    { name: 'istio_agent_pushes_total', type: 'counter', help: 'Secrets that were pushed', samples: [{ value: pushes }] },
    { name: 'istio_agent_pushes_accepted_total', type: 'counter', help: 'Pushes that Envoy took', samples: [{ value: accepted }] },
    {
      name: 'istio_agent_secret_update_failures_total',
      type: 'counter',
      help: 'Pushes that Envoy refused',
      samples: [{ value: rejected }],
    },
  ];
}
