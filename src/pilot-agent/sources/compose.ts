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
 * Combines many sources into one. It has all their changes, and each reading has the contributions
 * of all sources in their order; the hashes are joined by '+'.
 *
 * As cold as the sources. A source that has not changed yet delays nothing. If a source errors, the
 * others continue: after a pause its changes are subscribed to again. Its last reading stays;
 * before the first one it gives nothing. Throws if there is no source, and if two have the same
 * name.
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

/** The source of a run without sources. */
export const noSource: ContributingSource = {
  names: [],
  changes$: EMPTY,
  reading$: of(readingOf([])),
};

/** Returns the first name that occurs twice. Pure. */
export function repeated(names: readonly string[]): string | undefined {
  return names.find((name, place) => names.indexOf(name) < place);
}

/** Returns the message about two sources with the same name. Pure. */
export function sameName(name: string): string {
  return `two sources have the name '${name}': give one another name, by renamed() or in the configuration`;
}

/** Returns the same source without errors. Until it has a name, `place` names it. */
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
  return { hash, parts, config: config?.map((contribution) => ({ ...contribution, trouble })) };
}
