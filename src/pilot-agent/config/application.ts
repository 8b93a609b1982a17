import { type AppProbe, type AppProbes, appProbes } from './app-probes.ts';
import { type MetricsTarget, metricsTargets } from './metrics-targets.ts';
import { type ProbeDestination, probeHosts } from './probe-hosts.ts';

/** The variables about the application; an empty text counts as not set. */
export interface ApplicationTexts {
  readonly ISTIO_KUBE_APP_PROBERS: string;
  readonly ISTIO_PROMETHEUS_ANNOTATIONS: string;
  readonly PILOT_AGENT_METRICS_TARGETS: string;
}

/** The services of the status port for the application. */
export interface Application {
  /** By the path at which the kubelet requests them. */
  readonly probes: ReadonlyMap<string, AppProbe>;
  readonly metricsTargets: readonly MetricsTarget[];
}

/** Returns what the status port needs to know about the application. Pure. */
export function askedOf({
  probes,
  metricsTargets: targets,
  probeDestination,
  instanceIp,
}: Application & PlaceOfApplication) {
  return { probes, targets, probeHosts: probeHosts(probeDestination, instanceIp) };
}

interface PlaceOfApplication {
  readonly probeDestination: ProbeDestination;
  readonly instanceIp: string;
}

export interface ApplicationInputs {
  readonly role: string;
  readonly statusPort: number;
  readonly proxyAdminPort: number;
}

/**
 * Returns the probes and the metrics of the application. Invalid ones are left out with a warning:
 * an annotation of a pod must not keep its proxy from serving. Pure.
 */
export function application(
  {
    ISTIO_KUBE_APP_PROBERS: probers,
    ISTIO_PROMETHEUS_ANNOTATIONS,
    PILOT_AGENT_METRICS_TARGETS,
  }: ApplicationTexts,
  { role, statusPort, proxyAdminPort }: ApplicationInputs,
): { readonly application: Application; readonly warnings: readonly string[] } {
  const { probes, flaws }: AppProbes =
    probers === '' ? { probes: new Map(), flaws: [] } : appProbes(probers);
  const metrics = metricsTargets(
    { ...(role === 'sidecar' && { ISTIO_PROMETHEUS_ANNOTATIONS }), PILOT_AGENT_METRICS_TARGETS },
    new Map([
      [statusPort, 'the status port'],
      [proxyAdminPort, "Envoy's admin port"],
    ]),
  );
  return {
    application: { probes, metricsTargets: metrics.targets },
    warnings: [
      ...flaws.map((text) => `ISTIO_KUBE_APP_PROBERS: ${text}: the probe is left out`),
      ...metrics.flaws.map(({ place, text }) => `${place}: ${text}: it is not scraped`),
    ],
  };
}
