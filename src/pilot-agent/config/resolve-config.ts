import * as z from 'zod/mini';
import { agentFlagsSchema } from './agent-config.ts';
import { application } from './application.ts';
import { certificateFiles } from './certificate-files.ts';
import { flagLayer, type GivenFlags, resolveRole } from './flag-layer.ts';
import type { AgentEnvironment, ReadEnvironment } from './environment.ts';
import { withoutDrainConflict } from './drain-conflict.ts';
import { type GivenLogFlags, logOptions } from '../../shared/log/log-options.ts';
import { parseHostPort, portNumber } from '../../shared/text/host-port.ts';
import { flags } from './flags.ts';
import { logFlags } from '../../shared/log/log-flags.ts';
import { nodeIdentity } from './node-identity.ts';
import { type ProxyConfig, proxyConfigSchema } from './proxy-config.ts';
import { type LayerReading, readLayer } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';
import { type Sources, sources } from './sources.ts';
import { sourceConfigs } from './source-settings.ts';
import { type Layers, textLayers } from './text-layers.ts';
import { meant } from '../../shared/text/one-edit.ts';
import type { AgentConfig } from './agent-config.ts';
import type { ConfigFile } from './config-file.ts';
import { unreplacedHost } from './unreplaced-host.ts';

/** The port on which istiod authenticates its clients. */
const securedPort = ':15012';

/**
 * Returns the policy for the connection to the control plane. On the secured port it is
 * `MUTUAL_TLS`, whatever the setting is, as in the Go agent. But mounted certificates may not
 * belong to the mesh, so with them the setting decides. Pure.
 */
function authPolicy(
  {
    controlPlaneAuthPolicy,
    discoveryAddress,
  }: Pick<ProxyConfig, 'controlPlaneAuthPolicy' | 'discoveryAddress'>,
  fileMountedCerts: boolean,
): ProxyConfig['controlPlaneAuthPolicy'] {
  return discoveryAddress.endsWith(securedPort) && !fileMountedCerts
    ? 'MUTUAL_TLS'
    : controlPlaneAuthPolicy;
}

export type ResolvedConfig =
  | {
      readonly ok: true;
      readonly config: AgentConfig;
      readonly sources: Sources;
      readonly warnings: readonly string[];
    }
  /** `usage`: only the command line is wrong. */
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      readonly usage: boolean;
      readonly rest: Rest;
    };

/** The known part of a configuration that has problems. Later checks use it. */
export interface Rest {
  /** Each wrong value is replaced by that of a lower layer, or by the default. */
  readonly config: AgentConfig;
  /**
   * Says whether a field has the value that it will have when all mistakes are corrected.
   */
  readonly isCertain: (field: keyof ProxyConfig) => boolean;
}

export interface ConfigInputs {
  /** The flags that were given. */
  readonly given: GivenFlags;
  /** The flags about logging that were given. */
  readonly logFlags?: GivenLogFlags;
  /** The arguments that no flag took. */
  readonly leftover: readonly string[];
  readonly surroundings: ReadEnvironment;
  /** The addresses of this machine's interfaces, without loopback. */
  readonly addresses: readonly string[];
  readonly layers: Layers;
  /** `--config`, if it is given. Its variables are a part of `surroundings`. */
  readonly file?: ConfigFile | undefined;
}

/** All flags, as written on the command line of a command that accepts them. */
export const knownFlags = [
  ...Object.keys({ ...flags, ...logFlags }),
  'help',
  'version',
  'output',
  'validate',
].map((name) => `--${name}`);

/** The flags that an injector writes from annotations of the pod: Envoy's log levels. */
const injectedFlags: ReadonlySet<string> = new Set(['proxyLogLevel', 'proxyComponentLogLevel']);

const flagsSchema = z.object({ ...proxyConfigSchema.shape, ...agentFlagsSchema.shape });

/**
 * Returns the configuration after all layers, and the source of each value; or all mistakes in it,
 * each once for each place.
 *
 * Layers, lowest first: defaults, the mesh file, PROXY_CONFIG, the annotations, the configuration
 * file, the variables of flags, flags that were given. A field of a higher layer replaces the whole
 * field below. Each value is checked in its layer, even if a higher layer replaces it. Pure.
 */
export function resolveConfig(inputs: ConfigInputs): ResolvedConfig {
  const { logFlags: givenLogFlags = {}, leftover, surroundings, addresses, file } = inputs;
  const { role, unknownFlags } = resolveRole(leftover, file?.role);
  const layers = readLayers(inputs);
  const { readings } = layers;
  const fields = readings.reduce((lower, reading) => ({ ...lower, ...reading.fields }), defaults());
  const logging = logOptions({ ...file?.logFlags, ...givenLogFlags }, (flag) =>
    file === undefined || flag in givenLogFlags ? `--${flag}` : `${file.name}: ${flag}`,
  );
  const placeOf = (field: string) =>
    readings.findLast((reading) => Object.hasOwn(reading.fields, field))?.layer.place(field) ??
    `--${field}`;
  const listedSources = sourceConfigs(fields, placeOf, file?.sources);
  const beside = application(surroundings.application, { ...fields, role });
  const { values } = surroundings;
  const { provCert, pilotCertProvider } = values;
  const policy = authPolicy(fields, values.fileMountedCerts);
  const secured = { ...fields, controlPlaneAuthPolicy: policy };
  const config: AgentConfig = {
    role: isRole(role) ? role : 'sidecar',
    ...secured,
    further: furtherOf(readings),
    ...values,
    drainCap: values.drainCap ?? fields.terminationDrainDuration,
    ...beside.application,
    ...certificateFiles({ config: secured, ...surroundings.tls, provCert, pilotCertProvider }),
    node: nodeOf(fields, values, addresses),
    logging: logging.options,
    sources: listedSources.sources,
  };
  const problems = [
    ...(isRole(role) ? [] : [{ place: 'role', text: `'${role}' is not sidecar or router` }]),
    ...typos(unknownFlags),
    ...layers.problems,
    ...listedSources.problems,
    ...authorityProblems(surroundings.values.secrets.caAddress),
    ...(logging.ok ? [] : logging.problems),
  ];
  if (problems.length > 0) {
    const usage = problems.every(({ place }) => place === 'role' || place.startsWith('-'));
    return { ok: false, problems, usage, rest: { config, isCertain: layers.isCertain } };
  }
  return {
    ok: true,
    config,
    sources: sources(config, { readings, surroundings, leftover, logFlags: givenLogFlags, file }),
    warnings: [
      ...unknownFlags.map((flag) => `unknown flag ${flag} is ignored`),
      ...layers.givenWarnings,
      ...listedSources.warnings,
      ...(file?.flagged.warnings ?? []),
      ...surroundings.flagged.warnings,
      ...surroundings.warnings,
      ...beside.warnings,
      ...layers.warnings,
      ...unreplacedHost(config),
      ...(logging.ok ? logging.warnings : []),
    ],
  };
}

/** All layers of fields, the lowest first, and the mistakes in them. */
interface ReadLayers {
  readonly readings: readonly LayerReading<Partial<z.output<typeof flagsSchema>>>[];
  readonly isCertain: Rest['isCertain'];
  readonly problems: readonly Problem[];
  /** The warnings about flags that were given. */
  readonly givenWarnings: readonly string[];
  readonly warnings: readonly string[];
}

function readLayers({ given, surroundings, layers, file }: ConfigInputs): ReadLayers {
  const texts = textLayers(layers);
  const flagged = flagLayer(given, undefined, undefined, (field) => injectedFlags.has(field));
  const flagReading = readLayer(flagsSchema, flagged.layer);
  const variableReading = readLayer(flagsSchema, surroundings.flagged.layer);
  const textReadings = texts.layers.map((layer) => readLayer(proxyConfigSchema, layer));
  const fileReadings =
    file === undefined
      ? []
      : [
          readLayer(proxyConfigSchema, file.proxyConfig),
          readLayer(flagsSchema, file.flagged.layer),
        ];
  const lowest = readLayer(proxyConfigSchema, surroundings.lowest);
  const highest = readLayer(proxyConfigSchema, surroundings.highest);
  const userReadings = [...textReadings, ...fileReadings, variableReading, flagReading];
  const { readings, ...drain } = withoutDrainConflict(
    [lowest, ...userReadings, highest],
    defaults(),
  );
  // A text that cannot be parsed might set any field, so the values of lower layers are uncertain.
  const ofFile = file?.isKnown === false ? fileReadings.length : 0;
  const first = texts.problems.length + ofFile > 0 ? 1 + textReadings.length + ofFile : -1;
  return {
    readings,
    isCertain: (field) => {
      const from = readings.findLastIndex(({ fields }) => Object.hasOwn(fields, field));
      return from >= first && !readings.slice(from + 1).some(({ wrong }) => wrong.includes(field));
    },
    problems: [
      ...flagged.problems,
      ...flagReading.problems,
      ...texts.problems,
      ...textReadings.flatMap((reading) => reading.problems),
      ...(file?.problems ?? []),
      ...(file?.flagged.problems ?? []),
      ...fileReadings.flatMap((reading) => reading.problems),
      ...surroundings.flagged.problems,
      ...variableReading.problems,
      ...drain.problems,
    ],
    givenWarnings: flagged.warnings,
    warnings: [
      ...texts.warnings,
      ...readings.flatMap((reading) => reading.warnings),
      ...drain.warnings,
    ],
  };
}

/** Returns the fields that the schema does not have. A higher layer wins. */
function furtherOf(readings: ReadLayers['readings']): Readonly<Record<string, unknown>> {
  return readings.reduce(
    (lower, reading) => ({ ...without(lower, reading.fields), ...reading.further }),
    {},
  );
}

function nodeOf(
  { ip, id, domain, serviceregistry: registry }: ReturnType<typeof defaults>,
  { podName, podNamespace, instanceIp }: AgentEnvironment,
  addresses: readonly string[],
) {
  return nodeIdentity({
    ip,
    id,
    domain,
    registry,
    podName,
    podNamespace,
    instanceIp,
    addresses,
  });
}

/** Returns the problems of unknown flags that resemble a known one. */
function typos(unknownFlags: readonly string[]): readonly Problem[] {
  return unknownFlags.flatMap((flag) => {
    const right = meant(flag, knownFlags);
    return right === undefined
      ? []
      : [{ place: flag, text: `there is no such flag: did you mean ${right}?` }];
  });
}

/** Finds a wrong address at the start, because the agent would otherwise ask it again and again. */
function authorityProblems(address: string): readonly Problem[] {
  const { host = '', port } = parseHostPort(address) ?? {};
  const isRight = address === '' || (/^[^\s/]+$/.test(host) && portNumber(port) !== undefined);
  return isRight ? [] : [{ place: 'CA_ADDR', text: `'${address}' is not host:port` }];
}

/** Returns the defaults of all fields. Most fields have a flag, which contains the default. */
function defaults() {
  const texts = Object.entries(flags).flatMap(([name, flag]) =>
    ['binaryPath', 'concurrency'].includes(name)
      ? []
      : [[name, 'repeated' in flag ? [] : flag.default]],
  );
  const { content } = flagLayer(Object.fromEntries(texts) as GivenFlags).layer;
  const others = { terminationDrainDuration: '5s', extraStatTags: [], proxyMetadata: {} };
  const absent = {
    binaryPath: undefined,
    concurrency: undefined,
    envoyMetricsService: undefined,
    envoyAccessLogService: undefined,
    tracing: undefined,
  };
  return { ...absent, ...flagsSchema.parse({ ...(content as object), ...others }) };
}

/** Returns the members that the other object does not have. */
function without(
  members: Readonly<Record<string, unknown>>,
  excluded: object,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => !Object.hasOwn(excluded, name)),
  );
}

function isRole(role: string): role is AgentConfig['role'] {
  return role === 'sidecar' || role === 'router';
}
