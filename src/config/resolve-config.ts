import * as z from 'zod/mini';
import { agentFlagsSchema } from './agent-flags-schema.ts';
import { authPolicy } from './auth-policy.ts';
import { type CertificateFiles, certificateFiles } from './certificate-files.ts';
import { drainConflict } from './drain-conflict.ts';
import { type AgentEnvironment, environment } from './environment.ts';
import { flagLayer, type GivenFlags } from './flag-layer.ts';
import { flags } from './flags.ts';
import type { Layers } from './layers.ts';
import { type NodeIdentity, nodeIdentity } from './node-identity.ts';
import type { ProxyConfig } from './proxy-config.ts';
import { proxyConfigSchema } from './proxy-config-schema.ts';
import { readLayer } from './read-layer.ts';
import { resolveRole } from './resolve-role.ts';
import { type Sources, sources } from './sources.ts';
import { textLayers } from './text-layers.ts';

type AgentFlags = z.output<typeof agentFlagsSchema>;

/** What the agent runs by; nothing in it is optional. Durations in ms. */
export interface AgentConfig extends ProxyConfig, AgentFlags, AgentEnvironment, CertificateFiles {
  readonly role: 'sidecar' | 'router';
  readonly node: NodeIdentity;
  readonly drainCap: number;
}

/** One thing that is wrong: where, and what would be right. */
export interface Problem {
  readonly place: string;
  readonly text: string;
}

export type ResolvedConfig =
  | { readonly ok: true; readonly config: AgentConfig; readonly sources: Sources; readonly warnings: readonly string[] }
  /** `usage`: the command line alone is wrong. */
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly usage: boolean };

export interface ConfigInputs {
  /** The flags that were given. */
  readonly given: GivenFlags;
  /** The arguments that no flag took. */
  readonly leftover: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The addresses of this machine's interfaces, loopback left out. */
  readonly addresses: readonly string[];
  readonly layers: Layers;
}

const flagsSchema = z.object({ ...proxyConfigSchema.shape, ...agentFlagsSchema.shape });

/**
 * The configuration after all layers, and where each value is from; or all that is wrong with it, each thing once for each place.
 *
 * Layers, the lowest first: defaults, the mesh file, PROXY_CONFIG, the annotations, flags that were given. A field of a higher layer takes the
 * place of the whole field below. A value is checked in its layer, even if a higher one has another. Pure.
 */
export function resolveConfig({ given, leftover, env, addresses, layers }: ConfigInputs): ResolvedConfig {
  const { role, unknownFlags } = resolveRole(leftover);
  const surroundings = environment(env);
  const texts = textLayers(layers);
  const flagged = flagLayer(given);
  const flagReading = readLayer(flagsSchema, flagged.layer);
  const textReadings = texts.layers.map((layer) => readLayer(proxyConfigSchema, layer));
  const highest = readLayer(proxyConfigSchema, surroundings.highest);
  const readings = [readLayer(proxyConfigSchema, surroundings.lowest), ...textReadings, flagReading, highest];
  const fields = readings.reduce((lower, reading) => ({ ...lower, ...reading.fields }), defaults());

  const problems = [
    ...(isRole(role) ? [] : [{ place: 'role', text: `'${role}' is not sidecar or router` }]),
    ...flagged.problems,
    ...flagReading.problems,
    ...texts.problems,
    ...textReadings.flatMap((reading) => reading.problems),
    ...drainConflict(fields, readings),
  ];
  if (!isRole(role) || problems.length > 0) {
    return { ok: false, problems, usage: problems.every(({ place }) => place === 'role' || place.startsWith('--')) };
  }

  const { ip, id, domain, serviceregistry: registry } = fields;
  const node = nodeIdentity({ ip, id, domain, registry, env, addresses });
  const { provCert, pilotCertProvider, fileMountedCerts } = surroundings.values;
  const secured = { ...fields, controlPlaneAuthPolicy: authPolicy(fields, fileMountedCerts) };
  const config: AgentConfig = {
    ...secured,
    ...surroundings.values,
    drainCap: surroundings.values.drainCap ?? fields.terminationDrainDuration,
    ...certificateFiles({ config: secured, ...surroundings.tls, provCert, pilotCertProvider }),
    role,
    node,
  };
  return {
    ok: true,
    config,
    sources: sources(config, { readings, surroundings, leftover, env }),
    warnings: [
      ...unknownFlags.map((flag) => `unknown flag ${flag} is ignored`),
      ...flagged.warnings,
      ...surroundings.warnings,
      ...texts.warnings,
      ...readings.flatMap((reading) => reading.warnings),
    ],
  };
}

/** All fields without a layer. Most have a flag, which says the default. */
function defaults() {
  const texts = Object.entries(flags).flatMap(([name, flag]) => (name === 'binaryPath' ? [] : [[name, flag.default]]));
  const { content } = flagLayer(Object.fromEntries(texts) as GivenFlags).layer;
  const others = { terminationDrainDuration: '5s', extraStatTags: [], proxyMetadata: {} };
  const absent = { binaryPath: undefined, envoyMetricsService: undefined, envoyAccessLogService: undefined, tracing: undefined };
  return { ...absent, ...flagsSchema.parse({ ...(content as object), ...others }) };
}

function isRole(role: string): role is AgentConfig['role'] {
  return role === 'sidecar' || role === 'router';
}
