import { defaultIfEmpty, forkJoin, map, merge, type Observable } from 'rxjs';

/**
 * What a source has to say about itself: it listens, something may have changed, or a part of it
 * cannot be listened to for now. `source` is its name, where it has one.
 */
export type SourceChange =
  | { readonly type: 'ready' }
  /**
   * `isPushed`: secrets alone have changed, which are pushed as they are. `isGathered`: the source
   * has a window of its own, so that nothing waits for that of the agent.
   */
  | {
      readonly type: 'changed';
      readonly source?: string;
      readonly path?: string;
      readonly isPushed?: true;
      readonly isGathered?: true;
    }
  | { readonly type: 'watch-failed'; readonly path: string; readonly reason: string }
  /** It was read, be it the same as before or not. `hash` names what it says. */
  | { readonly type: 'source-read'; readonly source: string; readonly hash: string }
  /** It could not be read, and is tried again after `delayMs`. What was read last stays. */
  | {
      readonly type: 'source-unreadable';
      readonly source: string;
      readonly reason: string;
      readonly delayMs: number;
    };

/** A part of what a source reads, with a hash of its own: it tells what has changed. */
export interface SourcePart {
  /** The name of the source. */
  readonly source: string;
  /** The path of a file, or the name of a member. */
  readonly part: string;
  readonly hash: string;
  /** What a person knows its state by, for a log: the serial of a certificate. */
  readonly mark?: string;
}

/** One reading of a source. */
export interface SourceReading<Config = unknown> {
  /** Two readings with the same hash are the same. */
  readonly hash: string;
  /** Undefined if a change of the source only causes a restart: Envoy reads the files itself. */
  readonly config: Config | undefined;
  /** Is called only for readings that differ. */
  readonly parts: () => readonly SourcePart[];
}

/**
 * A piece of configuration that may change while Envoy runs.
 *
 * A change only triggers, the reading decides: `changes$` may speak too often, never too rarely.
 */
export interface ConfigSource<Config = unknown> {
  /**
   * Emits `ready` when it starts to listen, since what changed before that went unheard. Never
   * errors.
   */
  readonly changes$: Observable<SourceChange>;
  /**
   * Cold: one reading a subscription. What is wrong with the configuration has a hash too; an error
   * means that it cannot be read for now.
   */
  readonly reading$: Observable<SourceReading<Config>>;
}

/**
 * Makes many sources one: its changes are theirs, and one reading of it reads all of them. Their
 * hashes are joined by '+'; the configuration is that of the last source that has one.
 *
 * As cold as the sources. A source that has not changed yet delays nothing, as `combineLatest` of
 * readings would.
 */
export function composeSources<Config>(
  ...sources: readonly ConfigSource<Config>[]
): ConfigSource<Config> {
  return {
    changes$: merge(...sources.map(({ changes$ }) => changes$)),
    reading$: forkJoin(sources.map(({ reading$ }) => reading$)).pipe(
      defaultIfEmpty([]), // no source at all still starts the first epoch
      map((readings) => ({
        hash: readings.map(({ hash }) => hash).join('+'),
        config: readings.findLast(({ config }) => config !== undefined)?.config,
        parts: () => readings.flatMap(({ parts }) => parts()),
      })),
    ),
  };
}
