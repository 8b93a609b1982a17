import type { ConfigFile } from './config-file.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import type { ReadEnvironment } from './environment.ts';
import type { LayerReading } from './read-layer.ts';
import type { AgentConfig } from './agent-config.ts';
import { sourceFlagsSchema } from './source-settings.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * The origin of each value: `default`, `--flag`, `mesh file PATH`, `PROXY_CONFIG`, `annotation
 * NAME`, `config file PATH`, `$VARIABLE`, or several of them.
 */
export type Sources = Readonly<Record<keyof AgentConfig, string>>;

export interface Origins {
  /** The lowest first. */
  readonly readings: readonly LayerReading<object>[];
  readonly surroundings: ReadEnvironment;
  readonly leftover: readonly string[];
  readonly logFlags: GivenLogFlags;
  readonly file: ConfigFile | undefined;
}

/** Returns the source of each value of a configuration. Pure. */
export function sources(
  config: AgentConfig,
  { readings, surroundings, leftover, logFlags, file }: Origins,
): Sources {
  const layered = (field: string) =>
    readings.findLast(({ fields }) => Object.hasOwn(fields, field))?.layer.source(field);
  const placed = (field: string) =>
    readings.findLast(({ fields }) => Object.hasOwn(fields, field))?.layer.place(field);
  const ofFile = Object.keys(file?.logFlags ?? {}).filter((name) => !Object.hasOwn(logFlags, name));
  const ofApplication = (...names: readonly (keyof ReadEnvironment['application'])[]) =>
    several(names.map((name) => (surroundings.application[name] === '' ? undefined : `$${name}`)));
  const others: Partial<Record<string, string | undefined>> = {
    ...surroundings.sources,
    drainCap: surroundings.sources.drainCap ?? layered('terminationDrainDuration'),
    role: leftover.includes(config.role)
      ? 'argument'
      : file?.role === undefined
        ? undefined
        : file.name,
    probes: ofApplication('ISTIO_KUBE_APP_PROBERS'),
    metricsTargets: ofApplication(
      ...(config.role === 'sidecar' ? (['ISTIO_PROMETHEUS_ANNOTATIONS'] as const) : []),
      'PILOT_AGENT_METRICS_TARGETS',
    ),
    further: several(
      readings.map(({ further, layer }) =>
        Object.keys(further).length > 0 ? layer.source('further') : undefined,
      ),
    ),
    logging: several([
      ...Object.keys(logFlags).map((name) => `--${name}`),
      ...ofFile.map((name) => `${file?.name ?? ''}: ${name}`),
    ]),
    sources: several([
      ...sourceFields.map(layered),
      config.sources.length > 0 && (file?.sources.count ?? 0) > 0 ? file?.name : undefined,
    ]),
    node: nodeSource(config, surroundings.sources, placed),
    ...certificateSources(config, surroundings, layered),
  };
  const origins = Object.keys(config).map((field) => [
    field,
    ownMember(others, field) ?? layered(field) ?? 'default',
  ]);
  return Object.fromEntries(origins) as Sources;
}

/** Returns the sources of the values that depend on certificates. */
function certificateSources(
  config: AgentConfig,
  { tlsSources, sources: variables }: ReadEnvironment,
  layered: (field: string) => string | undefined,
) {
  const services = (['envoyMetricsService', 'envoyAccessLogService'] as const)
    .filter((field) => config[field]?.tlsSettings !== undefined)
    .map(layered);
  // The port of the control plane may also set the policy.
  const policy =
    config.controlPlaneAuthPolicy === 'NONE'
      ? []
      : [layered('controlPlaneAuthPolicy') ?? layered('discoveryAddress')];
  const certificates = several([...tlsSources, ...policy, ...services]);
  return {
    certificates,
    watched: certificates,
    awaited: certificates,
    own: several(tlsSources),
    besidePushed: several(services),
    controlPlaneAuthPolicy: several(policy),
    controlPlaneTls: several([...tlsSources, variables.provCert, variables.pilotCertProvider]),
  };
}

const sourceFields = Object.keys(sourceFlagsSchema.shape);

function nodeSource(
  { id, ip, domain, node, serviceregistry, instanceIp }: AgentConfig,
  variables: ReadEnvironment['sources'],
  placed: (field: string) => string | undefined,
): string | undefined {
  const inKubernetes = serviceregistry === 'Kubernetes';
  return several([
    ip !== '' ? placed('ip') : instanceIp === node.ip ? variables.instanceIp : undefined,
    id !== '' ? placed('id') : inKubernetes ? variables.podName : undefined,
    inKubernetes && (id === '' || domain === '') ? variables.podNamespace : undefined,
    domain !== '' ? placed('domain') : undefined,
  ]);
}

function several(origins: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(origins.filter((origin) => origin !== undefined));
  return distinct.size === 0 ? undefined : [...distinct].join(', ');
}
