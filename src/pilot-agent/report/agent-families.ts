import type { AgentState } from '../../epochs/model.ts';
import type { Timeline } from '../../epochs/timeline.ts';
import { counter, histogram, type MetricFamily } from '../../shared/metrics/metric-family.ts';

/** Returns the agent's state as metrics. Pure. */
export function stateFamilies(state: AgentState): readonly MetricFamily[] {
  const { phase, epochs, lastEpoch, crashes } = state;
  const reason = refusal(state);
  const stages = ['starting', 'live', 'draining', 'stopping'] as const;
  const phases = ['running', 'draining', 'stopping'] as const;
  return [
    {
      name: 'istio_agent_phase',
      type: 'gauge',
      help: 'Phase of the agent',
      samples: phases.map((name) => ({ labels: { phase: name }, value: Number(phase === name) })),
    },
    {
      name: 'istio_agent_envoys',
      type: 'gauge',
      help: 'Envoy processes by stage',
      samples: stages.map((stage) => ({
        labels: { stage },
        value: [...epochs.values()].filter((epoch) => epoch.stage === stage).length,
      })),
    },
    {
      name: 'istio_agent_epochs_total',
      type: 'counter',
      help: 'Envoy processes that were started',
      samples: [{ value: lastEpoch + 1 }],
    },
    {
      name: 'istio_agent_crashes',
      type: 'gauge',
      help: 'Crashes of Envoy since the restart budget was last full',
      samples: [{ value: crashes }],
    },
    {
      name: 'istio_agent_configuration_refused',
      type: 'gauge',
      help: 'Whether the newest configuration cannot work',
      samples: [reason === undefined ? { value: 0 } : { labels: { reason }, value: 1 }],
    },
  ];
}

/**
 * Returns who refuses the newest reading: the agent, which cannot make a configuration of it, or
 * the check. The reason is not a label: each text would be a new time series.
 */
function refusal({ refused, wanted }: AgentState): 'configuration' | 'check' | undefined {
  if (refused === undefined) return undefined;
  return wanted?.hash === refused.hash && wanted.config.kind === 'refused'
    ? 'configuration'
    : 'check';
}

/** Returns the lives of the epochs as metrics. Pure. */
export function lifecycleFamilies({
  counters,
  durations,
  causes,
}: Timeline): readonly MetricFamily[] {
  return [
    counter('config_changes', 'Changes of files and sources', counters.changes),
    counter('config_windows', 'Readings of all sources', counters.windows),
    counter('config_refusals', 'Configurations that were refused', counters.refusals),
    counter('envoy_restarts', 'Envoys started after the first one', counters.restarts),
    counter('envoy_crashes', 'Envoys that crashed', counters.crashes),
    counter(
      'envoy_rescues',
      'Envoys started beside the old one, if hot restart was impossible',
      counters.rescues,
    ),
    counter('envoy_drains', 'Drains of Envoys', counters.drains),
    {
      name: 'istio_agent_envoy_starts_total',
      type: 'counter',
      help: 'Started Envoys, by reason',
      samples: causes.map(({ why, source, part, count }) => ({
        labels: { why, source, part },
        value: count,
      })),
    },
    histogram('envoy_start_seconds', 'From the launch of an Envoy to LIVE', durations.start),
    histogram(
      'envoy_drain_seconds',
      'From the start of a drain to the end of Envoy',
      durations.drain,
    ),
    histogram('envoy_life_seconds', 'From the launch of an Envoy to its end', durations.life),
  ];
}

/** Returns the number of failures of each part of the agent as a metric. Pure. */
export function partFamilies(failures: Readonly<Record<string, number>>): readonly MetricFamily[] {
  const samples = Object.entries(failures).map(([part, value]) => ({ labels: { part }, value }));
  return [
    {
      name: 'istio_agent_part_failures_total',
      type: 'counter',
      help: 'Parts of the agent that failed and were started again',
      samples,
    },
  ];
}

/** Returns the running versions, by name, as a metric. Pure. */
export function buildFamily(versions: Readonly<Record<string, string>>): MetricFamily {
  return {
    name: 'istio_agent_build_info',
    type: 'gauge',
    help: 'The versions of the agent and of Node',
    samples: [{ labels: versions, value: 1 }],
  };
}

/**
 * Returns the resources that this process uses, and the duration of its start, as metrics.
 *
 * @param readyAt when the agent was first found ready, in ms since 1970; undefined if not yet
 * @param now ms since 1970
 */
export function processFamilies(readyAt: number | undefined, now: number): readonly MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: 'istio_agent_process_resident_memory_bytes',
      type: 'gauge',
      help: 'Memory of the agent (RSS)',
      samples: [{ value: process.memoryUsage.rss() }],
    },
    {
      name: 'istio_agent_process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time of the agent',
      samples: [{ value: (user + system) / 1e6 }],
    },
    {
      name: 'istio_agent_process_uptime_seconds',
      type: 'gauge',
      help: 'Seconds since the agent was started',
      samples: [{ value: process.uptime() }],
    },
    {
      name: 'istio_agent_startup_duration_seconds',
      type: 'gauge',
      help: 'From the start of the agent to the first probe that found it ready',
      samples: readyAt === undefined ? [] : [{ value: process.uptime() - (now - readyAt) / 1_000 }],
    },
  ];
}
