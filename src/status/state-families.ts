import type { AgentState } from '../agent/model.ts';
import type { MetricFamily } from './metric-family.ts';

/** What the agent's state has to tell as metrics. Pure. */
export function stateFamilies({ phase, epochs, lastEpoch, crashes, refused }: AgentState): readonly MetricFamily[] {
  const stages = ['starting', 'live', 'retiring', 'stopping'] as const;
  const phases = ['running', 'draining', 'stopping'] as const;
  return [
    { name: 'istio_agent_phase', type: 'gauge', help: 'The phase that the agent is in', samples: phases.map((name) => ({ labels: { phase: name }, value: Number(phase === name) })) }, // prettier-ignore
    { name: 'istio_agent_envoys', type: 'gauge', help: 'Envoy processes by stage', samples: stages.map((stage) => ({ labels: { stage }, value: [...epochs.values()].filter((epoch) => epoch.stage === stage).length })) }, // prettier-ignore
    { name: 'istio_agent_epochs_total', type: 'counter', help: 'Envoy processes that were started', samples: [{ value: lastEpoch + 1 }] },
    {
      name: 'istio_agent_crashes',
      type: 'gauge',
      help: 'Crashes of Envoy since the restart budget was last full',
      samples: [{ value: crashes }],
    },
    { name: 'istio_agent_configuration_refused', type: 'gauge', help: 'Whether the newest configuration can not work, and why', samples: [refused === undefined ? { value: 0 } : { labels: { reason: refused.reason }, value: 1 }] }, // prettier-ignore
  ];
}
