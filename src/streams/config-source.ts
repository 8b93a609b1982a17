import { defaultIfEmpty, forkJoin, map, merge, type Observable } from 'rxjs';

/** What a source has to say about itself: it listens, something may have changed, or a part of it can not be listened to for now. */
export type SourceChange =
  | { readonly type: 'ready' }
  | { readonly type: 'changed'; readonly path?: string }
  | { readonly type: 'watch-failed'; readonly path: string; readonly reason: string };

/**
 * A piece of configuration that may change while Envoy runs.
 *
 * A change only triggers, the reading decides: `changes$` may speak too often, never too rarely.
 */
export interface ConfigSource {
  /** Emits `ready` when it starts to listen, since what changed before that went unheard. Never errors. */
  readonly changes$: Observable<SourceChange>;
  /** Cold: one reading a subscription. Never errors: what can not be read has a hash too. */
  readonly hash$: Observable<string>;
}

/**
 * Makes many sources one: its changes are theirs, and one reading of it reads all of them and joins their hashes by '+'.
 *
 * As cold as the sources. A source that has not changed yet delays nothing, as `combineLatest` of hashes would.
 */
export function composeSources(...sources: readonly ConfigSource[]): ConfigSource {
  return {
    changes$: merge(...sources.map(({ changes$ }) => changes$)),
    hash$: forkJoin(sources.map(({ hash$ }) => hash$)).pipe(
      map((hashes) => hashes.join('+')),
      defaultIfEmpty(''), // no source at all still starts the first epoch
    ),
  };
}
