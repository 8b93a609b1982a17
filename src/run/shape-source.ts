import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { catchError, defer, from, map, merge, type Observable, of, ReplaySubject, share, skip, switchMap, take, tap } from 'rxjs';
import type { SdsInputs } from '../bootstrap/bootstrap-inputs.ts';
import type { LogLine } from '../log/log-line.ts';
import { resolveAddress } from '../node/address.ts';
import type { Platform } from '../node/cloud.ts';
import type { EpochConfig } from '../proxy/epoch-config.ts';
import type { ConfigSource, SourceChange } from '../streams/config-source.ts';
import { watchFiles } from '../streams/watch-files.ts';
import { annotationsFile, type EffectiveConfig, labelsFile } from './effective-config.ts';
import { Fatal } from './exit.ts';
import { makeConfig, readShape } from './make-config.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/** A configuration, and where its values are from. */
type KnownConfig = Pick<EffectiveConfig, 'config' | 'sources'>;

export interface ShapeOptions {
  /** As the agent was started with it: what only a new agent can honour stays as it is here. */
  readonly initial: KnownConfig;
  /** Resolves the configuration as it is now; rejects with a {@link Fatal} that says what is wrong with it. */
  readonly reread: () => Promise<EffectiveConfig>;
  readonly platform$: Observable<Platform>;
  /** As of the start: the secret discovery server is as old as the agent. */
  readonly sds: SdsInputs | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: LogLine) => void;
}

/** The source whose configuration is what Envoy is started from, apart from the certificates. */
export interface ShapeSource extends ConfigSource {
  /** What was read last. */
  latest(): EpochConfig;
  /** The configuration that it was made of. One with mistakes leaves it as it was. */
  known(): KnownConfig;
}

/** What a running agent keeps: its own ports, folders and times, and the arguments of its Envoys. */
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
 * Everything that shapes what Envoy is started from, but for certificates, as one source: the mesh file, labels and annotations of the pod, the template, the
 * override, and what the platform says of itself, late or not at all.
 *
 * A reading makes it anew. What cannot be made is a reading too: `latest` then says why. Never errors.
 */
export function shapeSource({ initial, reread, platform$, sds, env, log }: ShapeOptions): ShapeSource {
  const platforms$ = platform$.pipe(share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: false }));
  const warned = new Set<string>();
  let latest: EpochConfig = { kind: 'refused', reason: 'nothing has been read yet' };
  let known = initial;

  const warn = (warning: string): void => {
    if (warned.has(warning)) return;
    warned.add(warning);
    log({ level: 'warn', event: 'config.warning', msg: 'configuration warning', warning });
  };
  const keep = ({ config, sources }: KnownConfig): AgentConfig => {
    const changed = kept.filter((field) => config[field] !== initial.config[field]);
    if (changed.length > 0) warn(`${changed.join(', ')}: changed, which only a new agent can honour`);
    const old = <T extends object>(fields: T) => Object.fromEntries(kept.map((field) => [field, fields[field as keyof T]]));
    known = { config: { ...config, ...old(initial.config) }, sources: { ...sources, ...old(initial.sources) } };
    return known.config;
  };
  function withAddress(config: AgentConfig): Observable<AgentConfig> {
    if (config.statsdUdpAddress === '' || config.customConfigFile !== '') return of(config);
    return resolveAddress(config.statsdUdpAddress).pipe(
      map((found) => {
        if (!found.ok) warn(`statsd is left out: ${found.reason}`);
        return { ...config, statsdUdpAddress: found.ok ? found.address : '' };
      }),
    );
  }

  function made(config: AgentConfig): Observable<EpochConfig> {
    return platforms$.pipe(
      take(1),
      map((platform) => {
        const { config: next, warnings } = makeConfig(config, readShape(config), { platform, sds, env });
        warnings.forEach(warn);
        return next;
      }),
    );
  }

  const { meshConfig, bootstrapOverride, proxyBootstrapTemplatePath } = initial.config;
  const files = [meshConfig, bootstrapOverride, proxyBootstrapTemplatePath, labelsFile, annotationsFile];
  const watched = files.filter((file) => file !== '').map((file) => resolve(file));
  return {
    changes$: merge(watchFiles(watched), platforms$.pipe(skip(1), map((): SourceChange => ({ type: 'changed', path: 'metadata server' })))), // prettier-ignore
    hash$: defer(() => from(reread())).pipe(
      switchMap((read) => withAddress(keep(read))),
      switchMap(made),
      catchError((error: unknown) => {
        if (error instanceof Fatal) return of<EpochConfig>({ kind: 'refused', reason: error.message });
        throw error;
      }),
      tap((config) => (latest = config)),
      map((config) => createHash('sha256').update(JSON.stringify(config)).digest('hex')),
    ),
    latest: () => latest,
    known: () => known,
  };
}
