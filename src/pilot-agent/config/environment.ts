import type * as z from 'zod/mini';
import type { ApplicationTexts } from './application.ts';
import type { TlsFiles } from './certificate-files.ts';
import { type FlagLayer, variableLayer } from './flag-layer.ts';
import { idleWarnings } from './idle-variables.ts';
import type { Layer } from './read-layer.ts';
import { type ProbeDestination, probeDestination } from './probe-hosts.ts';
import { type ReadVariable, secretsConfig, type SecretsConfig } from './secrets-config.ts';
import { value } from '../../shared/text/value.ts';

/** The values that only variables set. */
export interface AgentEnvironment {
  /** The longest drain at the end, in ms; undefined if `terminationDrainDuration` applies. */
  readonly drainCap: number | undefined;
  readonly drainMinimum: number;
  /** `istiod`, `kubernetes`, `custom`; undefined if it is not set. */
  readonly pilotCertProvider: string | undefined;
  /** The folder of a machine's own certificates; empty for none. */
  readonly provCert: string;
  /** The agent asks no certificate authority. */
  readonly fileMountedCerts: boolean;
  /** The namespace of the control plane. */
  readonly istioNamespace: string;
  /** A file that is merged into Envoy's configuration; empty for none. */
  readonly bootstrapOverride: string;
  /** Ports of Envoy's listeners for Prometheus and for the readiness probe. */
  readonly prometheusPort: number;
  readonly healthPort: number;
  /** The time limit for Envoy's answer to a readiness check. In ms. */
  readonly readinessTimeout: number;
  /** The names of the pod. An empty text counts as not set. */
  readonly podName: string;
  readonly podNamespace: string;
  readonly instanceIp: string;
  readonly serviceAccount: string;
  /** The CPU limit of the container, in whole cores; undefined or 0 if it is unknown. */
  readonly cpuLimit: number | undefined;
  /** Envoy requests only changes (delta xDS). */
  readonly deltaXds: boolean;
  /** Keys of the metadata that proxies exchange, separated by commas. */
  readonly exchangeKeys: string;
  /** Known facts about a machine at Google; empty for none. */
  readonly gcpMetadata: string;
  /** Google's metadata server, a host with or without a port; empty for the default. */
  readonly metadataHost: string;
  /** The destination of a probe that names no host. */
  readonly probeDestination: ProbeDestination;
  /** The cluster that tokens are requested for; empty for none. */
  readonly gkeClusterUrl: string;
  /** Folders of programs, separated by colons. */
  readonly searchPath: string;
  /** `ISTIO_META_*` and `ISTIO_METAJSON_*`, in their order. */
  readonly metadataVariables: Readonly<Record<string, string>>;
  readonly secrets: SecretsConfig;
}

export interface ReadEnvironment {
  readonly values: AgentEnvironment;
  /** The variable that a value comes from. */
  readonly sources: Readonly<Partial<Record<keyof AgentEnvironment, string>>>;
  /** The paths in `ISTIO_META_TLS_*`. */
  readonly tls: { readonly server: Partial<TlsFiles>; readonly client: Partial<TlsFiles> };
  readonly tlsSources: readonly string[];
  /** The lowest layer above the defaults. */
  readonly lowest: Layer;
  /** The variables that stand for flags. */
  readonly flagged: FlagLayer;
  /** The layer above all others. */
  readonly highest: Layer;
  /** `PROXY_CONFIG`, a layer that is parsed later. */
  readonly proxyConfig: string | undefined;
  readonly application: ApplicationTexts;
  readonly warnings: readonly string[];
}

/** The variables that each set one value. */
export const variables = {
  drainCap: 'TERMINATION_DRAIN_DURATION_SECONDS',
  drainMinimum: 'MINIMUM_DRAIN_DURATION',
  pilotCertProvider: 'PILOT_CERT_PROVIDER',
  provCert: 'PROV_CERT',
  fileMountedCerts: 'FILE_MOUNTED_CERTS',
  istioNamespace: 'ISTIO_NAMESPACE',
  bootstrapOverride: 'ISTIO_BOOTSTRAP_OVERRIDE',
  prometheusPort: 'ENVOY_PROMETHEUS_PORT',
  healthPort: 'ENVOY_STATUS_PORT',
  readinessTimeout: 'ENVOY_READINESS_CHECK_TIMEOUT',
  podName: 'POD_NAME',
  podNamespace: 'POD_NAMESPACE',
  instanceIp: 'INSTANCE_IP',
  serviceAccount: 'SERVICE_ACCOUNT',
  cpuLimit: 'ISTIO_CPU_LIMIT',
  deltaXds: 'ISTIO_DELTA_XDS',
  exchangeKeys: 'ISTIO_ADDITIONAL_METADATA_EXCHANGE_KEYS',
  gcpMetadata: 'GCP_METADATA',
  metadataHost: 'GCE_METADATA_HOST',
  probeDestination: 'REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION',
  gkeClusterUrl: 'GKE_CLUSTER_URL',
  searchPath: 'PATH',
} as const satisfies Partial<Record<keyof AgentEnvironment, string>>;

/** The suffixes of the variables that name TLS files. */
export const tlsVariables = { chain: 'CERT_CHAIN', key: 'KEY', root: 'ROOT_CERT' } as const;
const stackdriver = 'STACKDRIVER_TRACING_';
const limits = {
  maxNumberOfAttributes: 'ATTRIBUTES',
  maxNumberOfAnnotations: 'ANNOTATIONS',
  maxNumberOfMessageEvents: 'MESSAGE_EVENTS',
};

/**
 * The default address of the control plane if `PILOT_CERT_PROVIDER` is set. Injectors of Istio 1.6
 * and later leave the address out if it is this one. Earlier injectors always write it.
 */
const istiod = 'istiod.istio-system.svc:15012';

/**
 * Reads everything that the environment sets for the agent. An invalid value is a warning, and the
 * default is used, as with the Go agent. docs/reference/environment.md lists the exceptions: values
 * that are checked later, and may end the agent. Pure.
 *
 * @param onRead is called for each variable whose value is validated, whether it is set or not
 */
export function environment(
  env: NodeJS.ProcessEnv,
  onRead?: (name: string, kind: z.ZodMiniType) => void,
): ReadEnvironment {
  const warnings: string[] = [];
  const sources: Partial<Record<keyof AgentEnvironment, string>> = {};
  const read: ReadVariable = (name, kind) => {
    onRead?.(name, kind);
    const text = env[name];
    if (text === undefined) return undefined;
    const result = kind.safeParse(text);
    if (!result.success)
      warnings.push(`${name}: ${result.error.issues[0]?.message ?? ''}: the default applies`);
    return result.data;
  };
  const valueOf: ReadValue = (field, kind) => {
    const result = read(variables[field], kind);
    if (result !== undefined) sources[field] = `$${variables[field]}`;
    return result;
  };
  const { tls, tlsSources } = tlsOf(env);
  const { secrets, secretsSources } = secretsOf(read, tls);
  if (secretsSources.length + tlsSources.length > 0)
    sources.secrets = [...secretsSources, ...tlsSources].join(', ');
  const metadataVariables = metadataOf(env);
  if (Object.keys(metadataVariables).length > 0) sources.metadataVariables = '$ISTIO_META*';
  const values: AgentEnvironment = {
    ...envoyValues(valueOf),
    ...podValues(valueOf),
    ...meshValues(valueOf),
    metadataVariables,
    secrets,
  };
  const lowest = lowestLayer(read, values.pilotCertProvider);
  const template = given(env['ISTIO_BOOTSTRAP']);
  return {
    values,
    sources,
    tls,
    tlsSources,
    lowest,
    flagged: variableLayer((name) => env[name]),
    highest: variable(
      'ISTIO_BOOTSTRAP',
      template === undefined ? {} : { proxyBootstrapTemplatePath: template },
    ),
    proxyConfig: env['PROXY_CONFIG'],
    application: {
      ISTIO_KUBE_APP_PROBERS: env['ISTIO_KUBE_APP_PROBERS'] ?? '',
      ISTIO_PROMETHEUS_ANNOTATIONS: env['ISTIO_PROMETHEUS_ANNOTATIONS'] ?? '',
      PILOT_AGENT_METRICS_TARGETS: env['PILOT_AGENT_METRICS_TARGETS'] ?? '',
    },
    warnings: [...warnings, ...idleWarnings(env)],
  };
}

/** Reads the variable of a value; undefined if it is not set, or is invalid. */
type ReadValue = <T>(field: keyof typeof variables, kind: z.ZodMiniType<T>) => T | undefined;

const textOf = (valueOf: ReadValue, field: keyof typeof variables): string =>
  valueOf(field, value.text) ?? '';

/** The values about Envoy: its drain, its certificates, its configuration, its ports. */
function envoyValues(valueOf: ReadValue) {
  return {
    drainCap: valueOf('drainCap', value.seconds),
    drainMinimum: valueOf('drainMinimum', value.duration) ?? 5_000,
    pilotCertProvider: valueOf('pilotCertProvider', value.text),
    provCert: textOf(valueOf, 'provCert'),
    fileMountedCerts: valueOf('fileMountedCerts', value.booleanText) ?? false,
    istioNamespace: given(valueOf('istioNamespace', value.text)) ?? 'istio-system',
    bootstrapOverride: textOf(valueOf, 'bootstrapOverride'),
    prometheusPort: valueOf('prometheusPort', value.port) ?? 15_090,
    healthPort: valueOf('healthPort', value.port) ?? 15_021,
    readinessTimeout: valueOf('readinessTimeout', value.duration) ?? 1_000,
  };
}

function podValues(valueOf: ReadValue) {
  return {
    podName: textOf(valueOf, 'podName'),
    podNamespace: textOf(valueOf, 'podNamespace'),
    instanceIp: textOf(valueOf, 'instanceIp'),
    serviceAccount: textOf(valueOf, 'serviceAccount'),
    cpuLimit: valueOf('cpuLimit', value.count),
  };
}

/** The values about the mesh, the cloud and the machine. */
function meshValues(valueOf: ReadValue) {
  return {
    deltaXds: valueOf('deltaXds', value.booleanText) ?? false,
    exchangeKeys: textOf(valueOf, 'exchangeKeys'),
    gcpMetadata: textOf(valueOf, 'gcpMetadata'),
    metadataHost: textOf(valueOf, 'metadataHost'),
    probeDestination: probeDestination(valueOf('probeDestination', value.booleanText)),
    gkeClusterUrl: textOf(valueOf, 'gkeClusterUrl'),
    searchPath: textOf(valueOf, 'searchPath'),
  };
}

/** Returns the TLS files that variables name, and these variables. */
function tlsOf(env: NodeJS.ProcessEnv) {
  const tlsSources: string[] = [];
  const side = (name: string): Partial<TlsFiles> =>
    Object.fromEntries(
      Object.entries(tlsVariables).flatMap(([file, suffix]) => {
        const tlsVariable = `ISTIO_META_TLS_${name}_${suffix}`;
        const path = given(env[tlsVariable]);
        if (path !== undefined) tlsSources.push(`$${tlsVariable}`);
        return path === undefined ? [] : [[file, path]];
      }),
    );
  return { tls: { server: side('SERVER'), client: side('CLIENT') }, tlsSources };
}

/** Returns the configuration of secrets, and the variables that set it. */
function secretsOf(read: ReadVariable, tls: ReadEnvironment['tls']) {
  const secretsSources: string[] = [];
  const recorded: ReadVariable = (name, kind) => {
    const result = read(name, kind);
    if (result !== undefined) secretsSources.push(`$${name}`);
    return result;
  };
  return { secrets: secretsConfig({ read: recorded, tls }), secretsSources };
}

function metadataOf(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, setting = '']) =>
      /^ISTIO_META(?:JSON)?_./s.test(name) ? [[name, setting]] : [],
    ),
  );
}

/**
 * Returns the layer just above the defaults: the tracer of Stackdriver, and the address of istiod
 * if `PILOT_CERT_PROVIDER` is set.
 */
function lowestLayer(read: ReadVariable, certProvider: string | undefined): Layer {
  const debug = read(`${stackdriver}DEBUG`, value.booleanText) ?? false;
  const numbers = Object.entries(limits).map(([field, suffix]): [string, number | null] => [
    field,
    read(`${stackdriver}MAX_NUMBER_OF_${suffix}`, value.count) ?? null,
  ]);
  const traced = read(`${stackdriver}ENABLED`, value.booleanText) === true;
  return {
    content: {
      ...(traced && { tracing: { stackdriver: { debug, ...Object.fromEntries(numbers) } } }),
      ...(given(certProvider) !== undefined && { discoveryAddress: istiod }),
    },
    source: (field) =>
      field === 'tracing' ? `$${stackdriver}ENABLED` : 'default with $PILOT_CERT_PROVIDER',
    place: (field) => field,
  };
}

/** Returns undefined for an empty text, which counts as not set. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function variable(name: string, content: unknown): Layer {
  return { content, source: () => `$${name}`, place: () => `$${name}` };
}
