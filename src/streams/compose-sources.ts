import { defaultIfEmpty, forkJoin, map, merge } from 'rxjs';
import type { ConfigSource } from './config-source.ts';

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
