import { catchError, defaultIfEmpty, forkJoin, map, merge, of, tap } from 'rxjs';
import { supervise } from '../operators/supervise.ts';
import type { SourceChange } from '../streams/config-source.ts';
import { type ContributedReading, type ContributingSource, readingOf, reasonOf } from './contribution.ts';

/**
 * Makes many sources one: its changes are theirs, and one reading of it has what all of them give,
 * in their order; their hashes are joined by '+'.
 *
 * As cold as the sources. A source that has not changed yet delays nothing. One that errors
 * disturbs no other: its changes are listened to again after a pause, its last reading stays, and
 * before it has any it gives nothing.
 */
export function compose(...sources: readonly ContributingSource[]): ContributingSource {
  const parts = sources.map((source, place) => guarded(source, `source ${place + 1}`));
  return {
    changes$: merge(...parts.map(({ changes$ }) => changes$)),
    reading$: forkJoin(parts.map(({ reading$ }) => reading$)).pipe(
      defaultIfEmpty([]),
      map((readings) => ({
        hash: readings.map(({ hash }) => hash).join('+'),
        config: readings.flatMap(({ config }) => config ?? []),
        parts: () => readings.flatMap((reading) => reading.parts()),
      })),
    ),
  };
}

/** The same source, which never errors. What it says before it has a name is told by `place`. */
function guarded({ changes$, reading$ }: ContributingSource, place: string): ContributingSource {
  let last = readingOf([]);
  const name = () => last.config?.[0]?.source ?? place;
  const failed = (error: unknown, delayMs: number): SourceChange => ({
    type: 'source-unreadable',
    source: name(),
    reason: reasonOf(error),
    delayMs,
  });
  return {
    changes$: changes$.pipe(supervise(failed)),
    reading$: reading$.pipe(
      tap((reading) => (last = reading)),
      catchError((error: unknown) => of(troubled(last, reasonOf(error)))),
    ),
  };
}

function troubled({ hash, config, parts }: ContributedReading, trouble: string): ContributedReading {
  return { hash, parts, config: config?.map((one) => ({ ...one, trouble })) };
}
