import { catchError, EMPTY, forkJoin, map, merge, of, tap } from 'rxjs';
import { supervise } from '../../operators/supervise.ts';
import type { SourceChange } from '../../streams/config-source.ts';
import {
  type ContributedReading,
  type ContributingSource,
  readingOf,
  reasonOf,
} from './contribution.ts';

/**
 * Makes many sources one: its changes are theirs, and one reading of it has what all of them give,
 * in their order; their hashes are joined by '+'.
 *
 * As cold as the sources. A source that has not changed yet delays nothing. One that errors
 * disturbs no other: its changes are listened to again after a pause, its last reading stays, and
 * before it has any it gives nothing. Throws for no source at all, and for two of one name.
 */
export function compose(...sources: readonly ContributingSource[]): ContributingSource {
  if (sources.length === 0) throw new TypeError('compose: there is no source to compose');
  const names = sources.flatMap((source) => source.names ?? []);
  const name = repeated(names);
  if (name !== undefined) throw new TypeError(`compose: ${sameName(name)}`);
  const parts = sources.map((source, place) => guarded(source, `source ${place + 1}`));
  return {
    names,
    changes$: merge(...parts.map(({ changes$ }) => changes$)),
    reading$: forkJoin(parts.map(({ reading$ }) => reading$)).pipe(
      map((readings) => ({
        hash: readings.map(({ hash }) => hash).join('+'),
        config: readings.flatMap(({ config }) => config ?? []),
        parts: () => readings.flatMap((reading) => reading.parts()),
      })),
    ),
  };
}

/** What a run has that has no sources. */
export const noSource: ContributingSource = {
  names: [],
  changes$: EMPTY,
  reading$: of(readingOf([])),
};

/** The first name that is there twice. Pure. */
export function repeated(names: readonly string[]): string | undefined {
  return names.find((name, place) => names.indexOf(name) < place);
}

/** What is said of two sources of one name. Pure. */
export function sameName(name: string): string {
  return `two sources have the name '${name}': give one another name, by renamed() or in the configuration`;
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

function troubled(
  { hash, config, parts }: ContributedReading,
  trouble: string,
): ContributedReading {
  return { hash, parts, config: config?.map((one) => ({ ...one, trouble })) };
}
