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
import { factsOf, noFacts } from './facts.ts';
import { makeConfig, readShape, type ShapeFiles } from './make-config.ts';
import { type RuntimeSettings, runtimeSettings } from './runtime-settings.ts';

/** A configuration, and where its values are from. */
export type KnownConfig = Pick<EffectiveConfig, 'config' | 'sources'>;

/** What Envoy is started from, and what that was made of. */
export interface ShapedConfig {
  readonly epoch: EpochConfig;
  /** Undefined where the configuration has mistakes: then it stays as it was. */
  readonly known: KnownConfig | undefined;
  readonly warnings: readonly string[];
  /** What an Envoy that runs is told without a new epoch; undefined where it stays as it was. */
  readonly runtime?: RuntimeSettings | undefined;
  /** What the sources beside the files give. */
  readonly contributions?: readonly Contribution[];
  /** What is wrong with what a source says, by its name; it counts for nothing then. */
  readonly flaws?: ReadonlyMap<string, string>;
}

export interface ShapeOptions {
  /** The sources beside the files, composed. */
  readonly beside?: ContributingSource;
  /**
   * As the agent was started with it: what only a new agent can honour stays as it is here. Files
   * that are passed over are not watched.
   */
  readonly initial: KnownConfig & Told & Partial<Pick<ReadConfig, 'passedOver'>>;
  /**
   * Resolves the configuration as it is now; rejects with a {@link Fatal} that says what is wrong
   * with it.
   */
  readonly reread: () => Promise<EffectiveConfig>;
  readonly platform$: Observable<Platform>;
  /** As of the start: the servers of secrets and of xDS are as old as the agent. */
  readonly sds: SdsInputs | undefined;
  readonly xdsSocket: string | undefined;
}

/**
 * What a running agent keeps: its own ports, folders and times, the arguments of its Envoys, and
 * what it does for the application.
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
 * Everything that shapes what Envoy is started from, but for certificates, as one source: the mesh
 * file, labels and annotations of the pod, the template and the override.
 *
 * A reading makes it anew, with the facts as they are then. Facts are no part of its hash: another
 * address, another answer of a name server or of a metadata server is no other configuration. What
 * cannot be made is a reading too, and says why. Never errors.
 */
export function shapeSource({
  initial,
  reread,
  platform$,
  sds,
  xdsSocket,
  beside = noSource,
}: ShapeOptions): ConfigSource<ShapedConfig> {
  const factsFor$ = factsOf(platform$);

  function shaped(
    known: KnownConfig & Told,
    given: ContributedReading,
  ): Observable<SourceReading<ShapedConfig>> {
    const { config, sources } = known;
    const name = repeated((given.config ?? []).map(({ source }) => source));
    if (name !== undefined) throw new Fatal(sameName(name), exitCodes.config);
    // Secrets go another way, and what they are is nothing to keep.
    const contributions = given.config?.filter(({ use }) => use !== 'secret') ?? [];
    const isPart = ({ source }: SourcePart) => contributions.some((one) => one.source === source);
    return forkJoin([factsFor$(config), runtimeSettings(contributions)]).pipe(
      map(([found, runtime]) => {
        const files = readShape(config);
        const made = makeConfig(config, files, { facts: found, sds, xdsSocket, contributions });
        const asked = { ...config, node: initial.config.node };
        const { config: constant } = makeConfig(asked, files, {
          facts: noFacts,
          sds,
          xdsSocket,
          contributions,
        });
        return {
          hash: hashOf([
            constant,
            constant.kind === 'generated' ? config.statsdUdpAddress : '',
            restartHashes(contributions),
          ]),
          config: {
            epoch: made.config,
            known: { config, sources },
            warnings: [...known.warnings, ...made.warnings, ...warningsOf(runtime.flaws)],
            runtime: runtime.settings,
            contributions,
            flaws: runtime.flaws,
          },
          parts: () => [
            ...fileParts(config, files),
            ...configParts(asked),
            ...given.parts().filter(isPart),
          ],
        };
      }),
    );
  }

  const {
    configFile,
    meshConfig,
    bootstrapOverride,
    proxyBootstrapTemplatePath,
    customConfigFile,
  } = initial.config;
  const ofPod = customConfigFile === '' ? [labelsFile, annotationsFile] : [annotationsFile];
  const files = [configFile, meshConfig, bootstrapOverride, proxyBootstrapTemplatePath, ...ofPod];
  const isOver = (file: string) => initial.passedOver?.some(({ path }) => path === file) === true;
  const watched = files.filter((file) => file !== '' && !isOver(file)).map((file) => resolve(file));
  return {
    // How the sources are is told by whoever follows them.
    changes$: merge(watchFiles(watched), beside.changes$.pipe(filter(isReason))),
    reading$: forkJoin([defer(() => from(reread())), beside.reading$]).pipe(
      switchMap(([read, given]) => shaped(asStarted(read, initial), given)),
      catchError((error: unknown) => {
        if (!(error instanceof Fatal)) throw error;
        const epoch: EpochConfig = { kind: 'refused', reason: error.message };
        const hash = hashOf(epoch);
        return of({
          hash,
          config: { epoch, known: undefined, warnings: [] },
          parts: () => [{ source: 'configuration', part: '', hash }],
        });
      }),
    ),
  };
}

/** Each source whose change is a reason for a new epoch, though Envoy is told nothing of it. */
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

/** Whether there is something to read anew. */
function isReason(sign: SourceChange): boolean {
  return sign.type === 'ready' || (sign.type === 'changed' && sign.isPushed !== true);
}

interface Told {
  readonly warnings: readonly string[];
}

/**
 * A configuration with what only a new agent can honour as it was at the start, a warning that
 * names what differs, and those that were not told at the start. The node is who it was, at the
 * addresses that it has now. Pure.
 */
function asStarted(
  { config, sources, warnings }: KnownConfig & Told,
  initial: KnownConfig & Told,
): KnownConfig & Told {
  const changed = startedWith.filter(
    (field) => !isDeepStrictEqual(config[field], initial.config[field]),
  );
  const old = <T extends object>(fields: T) =>
    Object.fromEntries(startedWith.map((field) => [field, fields[field as keyof T]]));
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
        : [`${changed.join(', ')}: changed, which only a new agent can honour`]),
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
  return parts.filter((file) => file.part !== ''); // it is not configured
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
