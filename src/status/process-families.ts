import type { MetricFamily } from './metric-family.ts';

/** What this process costs, as metrics. */
export function processFamilies(): readonly MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    { name: 'istio_agent_process_resident_memory_bytes', type: 'gauge', help: 'Memory of the agent (RSS)', samples: [{ value: process.memoryUsage.rss() }] }, // prettier-ignore
    { name: 'istio_agent_process_cpu_seconds_total', type: 'counter', help: 'CPU time of the agent', samples: [{ value: (user + system) / 1e6 }] }, // prettier-ignore
    {
      name: 'istio_agent_process_uptime_seconds',
      type: 'gauge',
      help: 'Since the agent was started',
      samples: [{ value: process.uptime() }],
    },
  ];
}
