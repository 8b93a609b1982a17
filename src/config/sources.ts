import type { ReadEnvironment } from './environment.ts';
import type { Reading } from './read-layer.ts';
import type { AgentConfig } from './agent-config.ts';

/** Where each value is from: `default`, `--flag`, `mesh file PATH`, `PROXY_CONFIG`, `annotation NAME`, `$VARIABLE`, or several of them. */
export type Sources = Readonly<Record<keyof AgentConfig, string>>;

export interface Origins {
  /** The lowest first. */
  readonly readings: readonly Reading<object>[];
  readonly surroundings: ReadEnvironment;
  readonly leftover: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The source of each value of a configuration. Pure. */
export function sources(config: AgentConfig, { readings, surroundings, leftover, env }: Origins): Sources {
  const layered = (field: string) => readings.findLast(({ fields }) => field in fields)?.layer.source(field);
  const services = (['envoyMetricsService', 'envoyAccessLogService'] as const)
    .filter((field) => config[field]?.tlsSettings !== undefined)
    .map(layered);
  // Its port may say it too.
  const policy = config.controlPlaneAuthPolicy === 'NONE' ? [] : [layered('controlPlaneAuthPolicy') ?? layered('discoveryAddress')];
  const certificates = several([...surroundings.tlsSources, ...policy, ...services]);
  const others: Partial<Record<string, string | undefined>> = {
    ...surroundings.sources,
    drainCap: surroundings.sources.drainCap ?? layered('terminationDrainDuration'),
    role: leftover.includes(config.role) ? 'argument' : undefined,
    node: nodeSource(config, env),
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

function nodeSource({ id, ip, domain, node, serviceregistry }: AgentConfig, env: NodeJS.ProcessEnv): string | undefined {
  const inKubernetes = serviceregistry === 'Kubernetes';
  return several([
    ip !== '' ? '--ip' : env['INSTANCE_IP'] === node.ip ? '$INSTANCE_IP' : undefined,
    id !== '' ? '--id' : inKubernetes && env['POD_NAME'] !== undefined ? '$POD_NAME' : undefined,
    inKubernetes && (id === '' || domain === '') && env['POD_NAMESPACE'] !== undefined ? '$POD_NAMESPACE' : undefined,
    domain !== '' ? '--domain' : undefined,
  ]);
}

function several(found: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(found.filter((one) => one !== undefined));
  return distinct.size === 0 ? undefined : [...distinct].join(', ');
}
