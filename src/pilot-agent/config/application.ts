import { type AppProbe, type AppProbes, appProbes } from './app-probes.ts';
import { type MetricsTarget, metricsTargets } from './metrics-targets.ts';
import { type ProbeDestination, probeHosts } from './probe-hosts.ts';

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

/** What the status port has to know of the application. Pure. */
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
 * The probes and the metrics of the application. What is wrong with them is a warning, and left
 * out: an annotation of a pod does not keep its proxy from serving. Pure.
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
