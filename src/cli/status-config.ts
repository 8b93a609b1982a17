import type { AppProbes } from '../config/app-probes.ts';
import { metricsTargets } from '../config/metrics-targets.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { StatusParts } from '../status/status-parts.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** What the status port is told by variables of its own: probes and metrics of the application. Rejects with a {@link Fatal} that says what is wrong with them. */
export async function statusConfig(
  { role, statusPort, proxyAdminPort }: Pick<AgentConfig, 'role' | 'statusPort' | 'proxyAdminPort'>,
  env: NodeJS.ProcessEnv,
): Promise<Pick<StatusParts, 'probes' | 'targets'>> {
  const probers = env['ISTIO_KUBE_APP_PROBERS'] ?? '';
  const read: AppProbes = probers === '' ? { ok: true, probes: new Map() } : (await import('../config/app-probes.ts')).appProbes(probers);
  if (!read.ok) throw new Fatal(`ISTIO_KUBE_APP_PROBERS: ${read.reason}`, exitCodes.config);
  const metrics = metricsTargets(
    {
      ...(role === 'sidecar' && { ISTIO_PROMETHEUS_ANNOTATIONS: env['ISTIO_PROMETHEUS_ANNOTATIONS'] ?? '' }),
      PILOT_AGENT_METRICS_TARGETS: env['PILOT_AGENT_METRICS_TARGETS'] ?? '',
    },
    new Map([
      [statusPort, 'the status port'],
      [proxyAdminPort, "Envoy's admin port"],
    ]),
  );
  if (!metrics.ok) throw new Fatal(`${metrics.place}: ${metrics.reason}`, exitCodes.config);
  return { probes: read.probes, targets: metrics.targets };
}
