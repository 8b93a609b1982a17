import type { GivenLogFlags } from './log-options.ts';
import type { ReadEnvironment } from './environment.ts';
import type { Reading } from './read-layer.ts';
import type { AgentConfig } from './agent-config.ts';
import { sourceFlagsSchema } from './source-settings.ts';

/**
 * Where each value is from: `default`, `--flag`, `mesh file PATH`, `PROXY_CONFIG`,
 * `annotation NAME`, `$VARIABLE`, or several of them.
 */
export type Sources = Readonly<Record<keyof AgentConfig, string>>;

export interface Origins {
  /** The lowest first. */
  readonly readings: readonly Reading<object>[];
  readonly surroundings: ReadEnvironment;
  readonly leftover: readonly string[];
  readonly logFlags: GivenLogFlags;
}

/** The source of each value of a configuration. Pure. */
export function sources(config: AgentConfig, { readings, surroundings, leftover, logFlags }: Origins): Sources {
  const layered = (field: string) => readings.findLast(({ fields }) => field in fields)?.layer.source(field);
  const services = (['envoyMetricsService', 'envoyAccessLogService'] as const)
    .filter((field) => config[field]?.tlsSettings !== undefined)
    .map(layered);
  // Its port may say it too.
  const policy = config.controlPlaneAuthPolicy === 'NONE' ? [] : [layered('controlPlaneAuthPolicy') ?? layered('discoveryAddress')];
  const certificates = several([...surroundings.tlsSources, ...policy, ...services]);
  const ofApplication = (...names: readonly (keyof ReadEnvironment['application'])[]) =>
    several(names.map((name) => (surroundings.application[name] === '' ? undefined : `$${name}`)));
  const others: Partial<Record<string, string | undefined>> = {
    ...surroundings.sources,
    drainCap: surroundings.sources.drainCap ?? layered('terminationDrainDuration'),
    role: leftover.includes(config.role) ? 'argument' : undefined,
    probes: ofApplication('ISTIO_KUBE_APP_PROBERS'),
    metricsTargets: ofApplication(...(config.role === 'sidecar' ? (['ISTIO_PROMETHEUS_ANNOTATIONS'] as const) : []), 'PILOT_AGENT_METRICS_TARGETS'), // prettier-ignore
    further: several(readings.map(({ further, layer }) => (Object.keys(further).length > 0 ? layer.source('further') : undefined))),
    logging: several(Object.keys(logFlags).map((name) => `--${name}`)),
    sources: several(sourceFields.map(layered)),
    node: nodeSource(config, surroundings.sources),
    certificates,
    watched: certificates,
    awaited: certificates,
    own: several(surroundings.tlsSources),
    besidePushed: several(services),
    controlPlaneAuthPolicy: several(policy),
    controlPlaneTls: several([...surroundings.tlsSources, surroundings.sources.provCert, surroundings.sources.pilotCertProvider]),
  };
  const found = Object.keys(config).map((field) => [field, others[field] ?? layered(field) ?? 'default']);
  return Object.fromEntries(found) as Sources;
}

const sourceFields = Object.keys(sourceFlagsSchema.shape);

function nodeSource(
  { id, ip, domain, node, serviceregistry, instanceIp }: AgentConfig,
  variables: ReadEnvironment['sources'],
): string | undefined {
  const inKubernetes = serviceregistry === 'Kubernetes';
  return several([
    ip !== '' ? '--ip' : instanceIp === node.ip ? variables.instanceIp : undefined,
    id !== '' ? '--id' : inKubernetes ? variables.podName : undefined,
    inKubernetes && (id === '' || domain === '') ? variables.podNamespace : undefined,
    domain !== '' ? '--domain' : undefined,
  ]);
}

function several(found: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(found.filter((one) => one !== undefined));
  return distinct.size === 0 ? undefined : [...distinct].join(', ');
}
