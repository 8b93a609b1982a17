import {
  asyncScheduler,
  distinctUntilChanged,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  scan,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import type { SourceChange } from '../../streams/config-source.ts';
import {
  type Content,
  contentHash,
  type ContributedReading,
  type Contribution,
  type ContributingSource,
  readingOf,
  reasonOf,
} from './contribution.ts';
import { inMs, type Ms } from './ms.ts';
import { follow, held, type ToldBySource } from './held.ts';

/** The same source by another name: in the log, in metrics, at `/debug/sources`. */
export function renamed(
  { names = [], changes$, reading$ }: ContributingSource,
  name: string,
): ContributingSource {
  if (name === '') throw new TypeError('renamed: a source needs a name');
  if (names.length > 1)
    throw new TypeError(
      `renamed: ${names.join(', ')} can not have one name: rename each before they are composed`,
    );
  return {
    names: [name],
    changes$: changes$.pipe(map((sign) => ('source' in sign ? { ...sign, source: name } : sign))),
    reading$: reading$.pipe(map((reading) => renamedReading(reading, name))),
  };
}

/** The same reading of a source by another name. */
export function renamedReading(reading: ContributedReading, name: string): ContributedReading {
  return {
    ...reading,
    config: reading.config?.map((one) => ({ ...one, source: name })),
    parts: () => reading.parts().map((part) => ({ ...part, source: name })),
  };
}

/** The last reading that was passed on, and what is told now. */
interface Passed {
  readonly last: ContributedReading | undefined;
  readonly told: readonly ToldBySource[];
}

/**
 * Lets changes through only while `open$` is true. While it is not, the reading stays what it was,
 * and there is none if it has never been open; what has changed meanwhile is a change when it
 * opens. `open$` has to emit at once what holds; until it does, the gate is closed.
 */
export function gated(
  source: ContributingSource,
  open$: Observable<boolean>,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const unsaid$ = timer(0, scheduler).pipe(
    map(() => false),
    takeUntil(open$),
  );
  const told$ = merge(open$, unsaid$).pipe(
    distinctUntilChanged(),
    switchMap((isOpen): Observable<ToldBySource | undefined> =>
      isOpen ? follow(source) : of(undefined),
    ),
    // Who has never been let through gives nothing, instead of letting others wait.
    scan(
      ({ last }: Passed, passed): Passed => {
        const told = passed ?? { type: 'reading', reading: last ?? readingOf([]) };
        return { last: told.type === 'reading' ? told.reading : last, told: [told] };
      },
      { last: undefined, told: [] },
    ),
    mergeMap(({ told }) => told),
  );
  return held(told$, { ...source, scheduler });
}

/**
 * Each content as `project` makes it, such as one member of a document; undefined for nothing.
 * While `project` throws, what it made before stays, and the reason is told.
 */
export function mapped(
  source: ContributingSource,
  project: (content: Content) => Content | undefined,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  function one(given: Contribution, before: Contribution | undefined): Contribution {
    if (given.content === undefined) return given;
    try {
      const content = project(given.content);
      return { ...given, content, hash: contentHash(content) };
    } catch (error) {
      return {
        ...given,
        content: before?.content,
        hash: before?.hash ?? '',
        trouble: reasonOf(error),
      };
    }
  }
  const told$ = follow(source).pipe(
    scan(
      ({ last }: Passed, told): Passed => {
        if (told.type !== 'reading') return { last, told: [told] };
        const reading = readingOf(
          told.reading.config?.map((given, place) => one(given, last?.config?.[place])) ?? [],
        );
        return { last: reading, told: [{ type: 'reading', reading }] };
      },
      { last: undefined, told: [] },
    ),
    mergeMap(({ told }) => told),
  );
  return held(told$, { ...source, scheduler });
}

/**
 * Reads the source every `every` ms, too: for one that cannot tell. What is new is told then, and
 * the reading stays what it was until then. What is made by `source()` has `every` among its
 * options instead.
 */
export function polled<N extends number>(
  source: ContributingSource,
  every: Ms<N>,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const due$ = interval(inMs('polled: every', every), scheduler).pipe(
    map((): SourceChange => ({ type: 'changed' })),
  );
  return held(follow({ ...source, changes$: merge(source.changes$, due$) }), {
    ...source,
    scheduler,
  });
}

/** The same source, read once however many use it. */
export function shared(
  source: ContributingSource,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  return held(follow(source), { ...source, scheduler });
}
