import type * as z from 'zod/mini';
import type { Layer } from './read-layer.ts';
import type { TlsFiles } from './certificate-files.ts';
import { value } from './value.ts';

/** What variables alone say. */
export interface AgentEnvironment {
  /** The longest drain at the end, in ms; undefined where `terminationDrainDuration` holds. */
  readonly drainCap: number | undefined;
  readonly drainMinimum: number;
  /** `istiod`, `kubernetes`, `custom`; undefined where it is not given. */
  readonly pilotCertProvider: string | undefined;
  /** The folder of a machine's own certificates; empty for none. */
  readonly provCert: string;
  /** No certificate authority is asked. */
  readonly fileMountedCerts: boolean;
  /** The namespace of the control plane. */
  readonly istioNamespace: string;
  /** A file that is merged into Envoy's configuration; empty for none. */
  readonly bootstrapOverride: string;
  /** Ports of Envoy's listeners for Prometheus and for the readiness probe. */
  readonly prometheusPort: number;
  readonly healthPort: number;
  /** How long Envoy may think over whether it is ready. In ms. */
  readonly readinessTimeout: number;
}

export interface ReadEnvironment {
  readonly values: AgentEnvironment;
  /** The variable that a value is from. */
  readonly sources: Readonly<Partial<Record<keyof AgentEnvironment, string>>>;
  /** The paths that `ISTIO_META_TLS_*` name. */
  readonly tls: { readonly server: Partial<TlsFiles>; readonly client: Partial<TlsFiles> };
  readonly tlsSources: readonly string[];
  /** What is beneath all other layers but the defaults. */
  readonly lowest: Layer;
  /** What is above them. */
  readonly highest: Layer;
  readonly warnings: readonly string[];
}

const variables = {
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
} as const satisfies Record<keyof AgentEnvironment, string>;

const tlsVariables = { chain: 'CERT_CHAIN', key: 'KEY', root: 'ROOT_CERT' } as const;
const stackdriver = 'STACKDRIVER_TRACING_';
const limits = { maxNumberOfAttributes: 'ATTRIBUTES', maxNumberOfAnnotations: 'ANNOTATIONS', maxNumberOfMessageEvents: 'MESSAGE_EVENTS' };

/** The environment, but for what the node is called by. A value that is not understood is a warning, and the default holds, as with the Go agent. Pure. */
export function environment(env: NodeJS.ProcessEnv): ReadEnvironment {
  const warnings: string[] = [];
  const sources: Partial<Record<keyof AgentEnvironment, string>> = {};
  const read = <T>(name: string, kind: z.ZodMiniType<T>): T | undefined => {
    const text = env[name];
    if (text === undefined) return undefined;
    const result = kind.safeParse(text);
    if (!result.success) warnings.push(`${name}: ${result.error.issues[0]?.message ?? ''}: the default holds`);
    return result.data;
  };
  const said = <T>(field: keyof AgentEnvironment, kind: z.ZodMiniType<T>): T | undefined => {
    const result = read(variables[field], kind);
    if (result !== undefined) sources[field] = `$${variables[field]}`;
    return result;
  };
  const values: AgentEnvironment = {
    drainCap: said('drainCap', value.seconds),
    drainMinimum: said('drainMinimum', value.duration) ?? 5_000,
    pilotCertProvider: said('pilotCertProvider', value.text),
    provCert: said('provCert', value.text) ?? '',
    fileMountedCerts: said('fileMountedCerts', value.booleanText) ?? false,
    istioNamespace: given(said('istioNamespace', value.text)) ?? 'istio-system',
    bootstrapOverride: said('bootstrapOverride', value.text) ?? '',
    prometheusPort: said('prometheusPort', value.port) ?? 15_090,
    healthPort: said('healthPort', value.port) ?? 15_021,
    readinessTimeout: said('readinessTimeout', value.duration) ?? 1_000,
  };

  const tlsSources: string[] = [];
  const side = (name: string): Partial<TlsFiles> =>
    Object.fromEntries(
      Object.entries(tlsVariables).flatMap(([file, suffix]) => {
        const variable = `ISTIO_META_TLS_${name}_${suffix}`;
        const path = given(env[variable]);
        if (path !== undefined) tlsSources.push(`$${variable}`);
        return path === undefined ? [] : [[file, path]];
      }),
    );
  const tls = { server: side('SERVER'), client: side('CLIENT') };

  const debug = read(`${stackdriver}DEBUG`, value.booleanText) ?? false;
  const numbers = Object.entries(limits).map(([field, suffix]): [string, number | null] => [
    field,
    read(`${stackdriver}MAX_NUMBER_OF_${suffix}`, value.count) ?? null,
  ]);
  const traced = read(`${stackdriver}ENABLED`, value.booleanText) === true;
  const template = given(env['ISTIO_BOOTSTRAP']);
  return {
    values,
    sources,
    tls,
    tlsSources,
    lowest: variable(`${stackdriver}ENABLED`, traced ? { tracing: { stackdriver: { debug, ...Object.fromEntries(numbers) } } } : {}),
    highest: variable('ISTIO_BOOTSTRAP', template === undefined ? {} : { proxyBootstrapTemplatePath: template }),
    warnings,
  };
}

/** An empty text is none. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function variable(name: string, content: unknown): Layer {
  return { content, source: () => `$${name}`, place: () => `$${name}` };
}
