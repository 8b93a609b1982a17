import { Agent } from 'node:http';
import { openAnswer } from '../admin/open-answer.ts';
import type { Handler } from './handler.ts';
import { metrics } from './metrics.ts';
import type { MetricsSource } from './metrics-source.ts';
import type { StatusParts } from './status-parts.ts';

/** `/stats/prometheus`: Envoy's metrics, those of the applications in their order, then the agent's. */
export function allMetrics({ admin, targets, families$ }: Pick<StatusParts, 'admin' | 'targets' | 'families$'>): Handler {
  const agent = new Agent({ keepAlive: true });
  const envoy: MetricsSource = { type: 'envoy', target: 'envoy', open: (headers) => admin.open('/stats/prometheus', headers) };
  const applications = targets.map(({ port, path }): MetricsSource => {
    return { type: 'application', target: `${port}${path}`, open: (headers) => openAnswer({ host: 'localhost', port, path, headers, agent }) }; // prettier-ignore
  });
  return metrics([envoy, ...applications], families$);
}
