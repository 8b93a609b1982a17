import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  catchError,
  defer,
  filter,
  forkJoin,
  from,
  map,
  merge,
  type Observable,
  of,
  switchMap,
} from 'rxjs';
import type { EpochConfig } from '../../../epochs/ports.ts';
import type { SdsInputs } from '../../bootstrap/bootstrap-inputs.ts';
import { type AgentConfig, type AgentFlags, agentFlagsSchema } from '../../config/agent-config.ts';
import type { Platform } from '../../bootstrap/cloud.ts';
import { noSource, repeated, sameName } from '../../sources/compose.ts';
import type {
  ContributedReading,
  ContributingSource,
  Contribution,
} from '../../sources/contribution.ts';
import type {
  ConfigSource,
  SourceChange,
  SourcePart,
  SourceReading,
} from '../../../streams/config-source.ts';
import { watchFiles } from '../../../streams/watch-files.ts';
import {
  annotationsFile,
  type EffectiveConfig,
  labelsFile,
  type ReadConfig,
} from './effective-config.ts';
import { exitCodes, Fatal } from '../../../shared/program/exit.ts';
import { type Facts, factsOf, noFacts } from './facts.ts';
import { makeConfig, readShape, type ShapeFiles } from './make-config.ts';
import { type RuntimeSettings, runtimeSettings } from './runtime-settings.ts';

/** A configuration, and the source of each value. */
export type ConfigWithSources = Pick<EffectiveConfig, 'config' | 'sources'>;

/** Everything that Envoy is started from, and its origin. */
export interface ShapedConfig {
  readonly epoch: EpochConfig;
  /** Undefined if the configuration has mistakes: then the previous one stays. */
  readonly validConfig: ConfigWithSources | undefined;
  readonly warnings: readonly string[];
  /**
   * The settings that a running Envoy receives without a new epoch; undefined if they stay the
   * same.
   */
  readonly runtime?: RuntimeSettings | undefined;
  /** The contributions of sources beside the files. */
  readonly contributions?: readonly Contribution[];
  /** By source: what is wrong with its content, which is then ignored. */
  readonly flaws?: ReadonlyMap<string, string>;
}

export interface ShapeOptions {
  /** The sources beside the files, composed. */
  readonly beside?: ContributingSource;
  /**
   * The configuration that the agent was started with: values that only a new agent can apply stay
   * as they are here. Files that were passed over are not watched.
   */
  readonly initial: ConfigWithSources & Warned & Partial<Pick<ReadConfig, 'passedOver'>>;
  /**
   * Resolves to the current configuration; rejects with a {@link Fatal} that describes its
   * mistakes.
   */
  readonly reread: () => Promise<EffectiveConfig>;
  readonly platform$: Observable<Platform>;
  /** Fixed at the start: the servers of secrets and xDS live as long as the agent. */
  readonly sds: SdsInputs | undefined;
  readonly xdsSocket: string | undefined;
}

/**
 * The values that a running agent keeps: its own ports, folders and times, the arguments of its
 * Envoys, and its services for the application.
 */
const startedWith = [
  ...(Object.keys(agentFlagsSchema.shape) as (keyof AgentFlags)[]),
  'binaryPath',
  'configPath',
  'statusPort',
  'customConfigFile',
  'serviceCluster',
  'concurrency',
  'drainDuration',
  'parentShutdownDuration',
  'terminationDrainDuration',
  'role',
  'logging',
  'sources',
  'probes',
  'metricsTargets',
  'secrets',
  'drainMinimum',
  'cpuLimit',
  'bootstrapOverride',
] as const satisfies readonly (keyof AgentConfig)[];

/**
 * The services whose certificates Envoy reads from files. A running agent watches and checks the
 * files that it was started with, so it keeps the services if one of the files becomes another.
 */
const services = ['envoyMetricsService', 'envoyAccessLogService'] as const;
/** The files of certificates, which the services are a part of. */
const certificateLists = ['certificates', 'watched', 'awaited', 'besidePushed'] as const;

/**
 * Combines everything that shapes what Envoy is started from, except certificates, into one source:
 * the mesh file, labels and annotations of the pod, the template and the override.
 *
 * Each reading builds it again, with the facts at that time. Facts are not part of its hash:
 * another address, or another answer of a name server or metadata server, does not make another
 * configuration. A configuration that cannot be made is also a reading, and contains the reason.
 * Never errors.
 */
export function shapeSource(options: ShapeOptions): ConfigSource<ShapedConfig> {
  const { initial, reread, platform$, beside = noSource } = options;
  const factsFor$ = factsOf(platform$);

  function shaped(
    resolved: ConfigWithSources & Warned,
    reading: ContributedReading,
  ): Observable<SourceReading<ShapedConfig>> {
    const name = repeated((reading.config ?? []).map(({ source }) => source));
    if (name !== undefined) throw new Fatal(sameName(name), exitCodes.config);
    // Secrets reach Envoy in another way, and their content is not kept here.
    const contributions = reading.config?.filter(({ use }) => use !== 'secret') ?? [];
    return forkJoin([factsFor$(resolved.config), runtimeSettings(contributions)]).pipe(
      map(([facts, runtime]) =>
        shapedReading({ resolved, reading, contributions, facts, runtime }, options),
      ),
    );
  }

  return {
    // The state of each source is reported by the subscriber of these sources.
    changes$: merge(watchFiles(watchedFiles(initial)), beside.changes$.pipe(filter(isReason))),
    reading$: forkJoin([defer(() => from(reread())), beside.reading$]).pipe(
      switchMap(([read, reading]) => shaped(asStarted(read, initial), reading)),
      catchError((error: unknown) => {
        if (!(error instanceof Fatal)) throw error;
        const epoch: EpochConfig = { kind: 'refused', reason: error.message };
        const hash = hashOf(epoch);
        return of({
          hash,
          config: { epoch, validConfig: undefined, warnings: [] },
          parts: () => [{ source: 'configuration', part: '', hash }],
        });
      }),
    ),
  };
}

/** Everything that one reading is made from. */
interface ShapeParts {
  readonly resolved: ConfigWithSources & Warned;
  readonly reading: ContributedReading;
  /** The contributions of the reading without secrets. */
  readonly contributions: readonly Contribution[];
  readonly facts: Facts;
  readonly runtime: Awaited<ReturnType<typeof runtimeSettings>>;
}

function shapedReading(
  { resolved, reading, contributions, facts, runtime }: ShapeParts,
  { initial, sds, xdsSocket }: ShapeOptions,
): SourceReading<ShapedConfig> {
  const { config, sources } = resolved;
  const files = readShape(config);
  const beside = { sds, xdsSocket, contributions };
  const { config: epoch, warnings } = makeConfig(config, files, { facts, ...beside });
  const shaped = { ...config, node: initial.config.node };
  const { config: constant } = makeConfig(shaped, files, { facts: noFacts, ...beside });
  const isPart = ({ source }: SourcePart) =>
    contributions.some((contribution) => contribution.source === source);
  return {
    hash: hashOf([
      constant,
      constant.kind === 'generated' ? config.statsdUdpAddress : '',
      restartHashes(contributions),
    ]),
    config: {
      epoch,
      validConfig: { config, sources },
      warnings: [...resolved.warnings, ...warnings, ...warningsOf(runtime.flaws)],
      runtime: runtime.settings,
      contributions,
      flaws: runtime.flaws,
    },
    parts: () => [
      ...fileParts(config, files),
      ...configParts(shaped),
      ...reading.parts().filter(isPart),
    ],
  };
}

/** Returns the paths of the files whose change causes another reading. */
function watchedFiles({ config, passedOver }: ShapeOptions['initial']): readonly string[] {
  const { configFile, meshConfig, bootstrapOverride, proxyBootstrapTemplatePath } = config;
  const ofPod = config.customConfigFile === '' ? [labelsFile, annotationsFile] : [annotationsFile];
  const files = [configFile, meshConfig, bootstrapOverride, proxyBootstrapTemplatePath, ...ofPod];
  const isOver = (file: string) => passedOver?.some(({ path }) => path === file) === true;
  return files.filter((file) => file !== '' && !isOver(file)).map((file) => resolve(file));
}

/**
 * Returns the sources whose change causes a new epoch, although Envoy does not get their content.
 */
function restartHashes(
  contributions: readonly Contribution[],
): readonly (readonly [string, string])[] {
  return contributions.flatMap(({ use, source, hash }) =>
    use === 'restart' ? [[source, hash] as const] : [],
  );
}

function warningsOf(flaws: ReadonlyMap<string, string>): readonly string[] {
  return [...flaws].map(([source, reason]) => `source ${source} is ignored: ${reason}`);
}

/** Returns whether a change requires a new reading. */
function isReason(sign: SourceChange): boolean {
  return sign.type === 'ready' || (sign.type === 'changed' && sign.isPushed !== true);
}

interface Warned {
  readonly warnings: readonly string[];
}

/**
 * Returns the configuration with the start's values for everything that only a new agent can apply.
 * Adds a warning that names the changes, and drops the warnings that were logged at the start. The
 * node keeps its identity, with its current addresses. Pure.
 */
function asStarted(
  { config, sources, warnings }: ConfigWithSources & Warned,
  initial: ConfigWithSources & Warned,
): ConfigWithSources & Warned {
  const isChanged = (field: keyof AgentConfig) =>
    !isDeepStrictEqual(config[field], initial.config[field]);
  const haveOtherFiles = isChanged('besidePushed');
  const changed = [...startedWith, ...(haveOtherFiles ? services : [])].filter(isChanged);
  const kept = [...startedWith, ...(haveOtherFiles ? [...services, ...certificateLists] : [])];
  const old = <T extends object>(fields: T) =>
    Object.fromEntries(kept.map((field) => [field, fields[field as keyof T]]));
  return {
    config: {
      ...config,
      ...old(initial.config),
      node: { ...initial.config.node, addresses: config.node.addresses },
    },
    sources: { ...sources, ...old(initial.sources) },
    warnings: [
      ...warnings.filter((warning) => !initial.warnings.includes(warning)),
      ...(changed.length === 0
        ? []
        : [`${changed.join(', ')}: the change takes effect when the agent is restarted`]),
    ],
  };
}

function fileParts(
  { meshConfig, bootstrapOverride, proxyBootstrapTemplatePath }: AgentConfig,
  files: ShapeFiles,
): readonly SourcePart[] {
  const parts = [
    part('files', meshConfig, files.mesh),
    part('files', bootstrapOverride, files.override),
    part('files', proxyBootstrapTemplatePath, files.template),
    part('files', labelsFile, files.labels),
    part('files', annotationsFile, files.annotations),
  ];
  return parts.filter((file) => file.part !== ''); // an empty name: the file is not configured
}

function configParts(config: AgentConfig): readonly SourcePart[] {
  return Object.entries(config).map(([name, value]) => part('configuration', name, value));
}

function part(source: string, name: string, value: unknown): SourcePart {
  return { source, part: name, hash: hashOf(value) };
}

function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([value]))
    .digest('hex');
}
