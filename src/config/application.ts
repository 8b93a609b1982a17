import { type AppProbe, type AppProbes, appProbes } from './app-probes.ts';
import { type MetricsTarget, metricsTargets } from './metrics-targets.ts';
import type { Problem } from './read-layer.ts';

/** The variables about the application; an empty text is none. */
export interface ApplicationTexts {
  readonly ISTIO_KUBE_APP_PROBERS: string;
  readonly ISTIO_PROMETHEUS_ANNOTATIONS: string;
  readonly PILOT_AGENT_METRICS_TARGETS: string;
}

/** What the status port does for the application. */
export interface Application {
  /** By the path at which they are asked for. */
  readonly probes: ReadonlyMap<string, AppProbe>;
  readonly metricsTargets: readonly MetricsTarget[];
}

export interface ApplicationInputs {
  readonly role: string;
  readonly statusPort: number;
  readonly proxyAdminPort: number;
}

/**
 * The probes and the metrics of the application, and all that is wrong with them. Pure.
 */
export function application(
  { ISTIO_KUBE_APP_PROBERS: probers, ISTIO_PROMETHEUS_ANNOTATIONS, PILOT_AGENT_METRICS_TARGETS }: ApplicationTexts,
  { role, statusPort, proxyAdminPort }: ApplicationInputs,
): { readonly application: Application; readonly problems: readonly Problem[] } {
  const probes: AppProbes = probers === '' ? { ok: true, probes: new Map() } : appProbes(probers);
  const metrics = metricsTargets(
    { ...(role === 'sidecar' && { ISTIO_PROMETHEUS_ANNOTATIONS }), PILOT_AGENT_METRICS_TARGETS },
    new Map([
      [statusPort, 'the status port'],
      [proxyAdminPort, "Envoy's admin port"],
    ]),
  );
  return {
    application: { probes: probes.ok ? probes.probes : new Map(), metricsTargets: metrics.ok ? metrics.targets : [] },
    problems: [...(probes.ok ? [] : [{ place: 'ISTIO_KUBE_APP_PROBERS', text: probes.reason }]), ...(metrics.ok ? [] : metrics.problems)],
  };
}
