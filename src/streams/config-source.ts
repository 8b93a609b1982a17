import { defaultIfEmpty, forkJoin, map, merge, type Observable } from 'rxjs';

/**
 * A report of a source: it listens, something may have changed, or a part of it cannot be watched
 * for now. `source` is its name, if it has one.
 */
export type SourceChange =
  | { readonly type: 'ready' }
  /**
   * `isPushed`: only secrets have changed, and the agent pushes them without an epoch.
   * `isGathered`: the source has its own window, so the change skips the agent's window.
   */
  | {
      readonly type: 'changed';
      readonly source?: string;
      readonly path?: string;
      readonly isPushed?: true;
      readonly isGathered?: true;
    }
  | { readonly type: 'watch-failed'; readonly path: string; readonly reason: string }
  /** The source was read, with or without a change. `hash` is the hash of its content. */
  | { readonly type: 'source-read'; readonly source: string; readonly hash: string }
  /**
   * The source could not be read, and is tried again after `delayMs`. The last reading stays valid.
   */
  | {
      readonly type: 'source-unreadable';
      readonly source: string;
      readonly reason: string;
      readonly delayMs: number;
    };

/** A part of a source's reading, with its own hash, which shows what has changed. */
export interface SourcePart {
  /** The name of the source. */
  readonly source: string;
  /** The path of a file, or the name of a member. */
  readonly part: string;
  readonly hash: string;
  /** A text by which a person recognizes its state in a log: the serial of a certificate. */
  readonly mark?: string;
}

/** One reading of a source. */
export interface SourceReading<Config = unknown> {
  /** Two readings with the same hash are the same. */
  readonly hash: string;
  /** Undefined if a change of the source only causes a restart: Envoy reads the files itself. */
  readonly config: Config | undefined;
  /** Called only for readings that differ. */
  readonly parts: () => readonly SourcePart[];
}

/**
 * A piece of configuration that may change while Envoy runs.
 *
 * A change only triggers a reading, and the reading decides: `changes$` may emit too often, but
 * never too rarely.
 */
export interface ConfigSource<Config = unknown> {
  /**
   * Emits `ready` when it starts to listen, because it has missed earlier changes. Never errors.
   */
  readonly changes$: Observable<SourceChange>;
  /**
   * Cold: one reading a subscription. A faulty configuration has a hash too; an error means that it
   * cannot be read for now.
   */
  readonly reading$: Observable<SourceReading<Config>>;
}

/**
 * Joins many sources into one: it has all their changes, and one reading of it reads all of them.
 * Their hashes are joined by '+'; the configuration is that of the last source that has one.
 *
 * As cold as the sources. A source that has not changed yet delays nothing, unlike with
 * `combineLatest` of readings.
 */
export function composeSources<Config>(
  ...sources: readonly ConfigSource<Config>[]
): ConfigSource<Config> {
  return {
    changes$: merge(...sources.map(({ changes$ }) => changes$)),
    reading$: forkJoin(sources.map(({ reading$ }) => reading$)).pipe(
      defaultIfEmpty([]), // without any source the first epoch still starts
      map((readings) => ({
        hash: readings.map(({ hash }) => hash).join('+'),
        config: readings.findLast(({ config }) => config !== undefined)?.config,
        parts: () => readings.flatMap(({ parts }) => parts()),
      })),
    ),
  };
}
