import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { catchError, defer, from, map, merge, type Observable, of, ReplaySubject, share, skip, switchMap, take } from 'rxjs';
import type { EpochConfig } from '../agent/ports.ts';
import type { SdsInputs } from '../bootstrap/bootstrap-inputs.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { resolveAddress } from '../node/address.ts';
import type { Platform } from '../node/cloud.ts';
import type { ConfigSource, SourceChange, SourcePart, SourceReading } from '../streams/config-source.ts';
import { watchFiles } from '../streams/watch-files.ts';
import { annotationsFile, type EffectiveConfig, labelsFile } from './effective-config.ts';
import { Fatal } from './exit.ts';
import { makeConfig, readShape, type ShapeFiles } from './make-config.ts';

/** A configuration, and where its values are from. */
export type KnownConfig = Pick<EffectiveConfig, 'config' | 'sources'>;

/** What Envoy is started from, and what that was made of. */
export interface ShapedConfig {
  readonly epoch: EpochConfig;
  /** Undefined where the configuration has mistakes: then it stays as it was. */
  readonly known: KnownConfig | undefined;
  readonly warnings: readonly string[];
}

export interface ShapeOptions {
  /** As the agent was started with it: what only a new agent can honour stays as it is here. */
  readonly initial: KnownConfig;
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
 * What a running agent keeps: its own ports, folders and times, and the arguments of its Envoys.
 */
const kept = [
  'binaryPath',
  'configPath',
  'statusPort',
  'customConfigFile',
  'serviceCluster',
  'concurrency',
  'drainDuration',
  'parentShutdownDuration',
  'terminationDrainDuration',
] as const satisfies readonly (keyof AgentConfig)[];

/**
 * Everything that shapes what Envoy is started from, but for certificates, as one source: the mesh
 * file, labels and annotations of the pod, the template, the override, and what the platform says
 * of itself, late or not at all.
 *
 * A reading makes it anew. What cannot be made is a reading too, and says why. Never errors.
 */
export function shapeSource({ initial, reread, platform$, sds, xdsSocket }: ShapeOptions): ConfigSource<ShapedConfig> {
  const platforms$ = platform$.pipe(share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: false }));

  function shaped({ config, warnings, sources }: KnownConfig & Told): Observable<SourceReading<ShapedConfig>> {
    return platforms$.pipe(
      take(1),
      map((platform) => {
        const files = readShape(config);
        const made = makeConfig(config, files, { platform, sds, xdsSocket });
        const known = { config, sources };
        const all = { epoch: made.config, known, warnings: [...warnings, ...made.warnings] };
        return readingOf(all, () => [...fileParts(config, files), ...configParts(config), part('platform', '', platform)]);
      }),
    );
  }

  const { meshConfig, bootstrapOverride, proxyBootstrapTemplatePath } = initial.config;
  const files = [meshConfig, bootstrapOverride, proxyBootstrapTemplatePath, labelsFile, annotationsFile];
  const watched = files.filter((file) => file !== '').map((file) => resolve(file));
  const learnt$ = platforms$.pipe(skip(1), map((): SourceChange => ({ type: 'changed', path: 'metadata server' }))); // prettier-ignore
  return {
    changes$: merge(watchFiles(watched), learnt$),
    reading$: defer(() => from(reread())).pipe(
      map((read) => asStarted(read, initial)),
      switchMap(withAddress),
      switchMap(shaped),
      catchError((error: unknown) => {
        if (!(error instanceof Fatal)) throw error;
        const epoch: EpochConfig = { kind: 'refused', reason: error.message };
        return of(readingOf({ epoch, known: undefined, warnings: [] }, () => [part('configuration', '', error.message)]));
      }),
    ),
  };
}

interface Told {
  readonly warnings: readonly string[];
}

/**
 * A configuration with what only a new agent can honour as it was at the start, and a warning that
 * names what differs. Pure.
 */
function asStarted({ config, sources }: KnownConfig, initial: KnownConfig): KnownConfig & Told {
  const changed = kept.filter((field) => config[field] !== initial.config[field]);
  const old = <T extends object>(fields: T) => Object.fromEntries(kept.map((field) => [field, fields[field as keyof T]]));
  return {
    config: { ...config, ...old(initial.config) },
    sources: { ...sources, ...old(initial.sources) },
    warnings: changed.length === 0 ? [] : [`${changed.join(', ')}: changed, which only a new agent can honour`],
  };
}

/** The configuration with the address of statsd as Envoy takes it. */
function withAddress(known: KnownConfig & Told): Observable<KnownConfig & Told> {
  const { config, warnings } = known;
  if (config.statsdUdpAddress === '' || config.customConfigFile !== '') return of(known);
  return resolveAddress(config.statsdUdpAddress).pipe(
    map((found) => ({
      ...known,
      config: { ...config, statsdUdpAddress: found.ok ? found.address : '' },
      warnings: found.ok ? warnings : [...warnings, `statsd is left out: ${found.reason}`],
    })),
  );
}

function readingOf(config: ShapedConfig, parts: () => readonly SourcePart[]): SourceReading<ShapedConfig> {
  return { hash: hashOf(config.epoch), config, parts };
}

function fileParts({ bootstrapOverride, proxyBootstrapTemplatePath }: AgentConfig, files: ShapeFiles): readonly SourcePart[] {
  const parts = [
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
