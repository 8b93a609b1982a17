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
import { follow, sourceFromEvents, type SourceOutput } from './source-from-events.ts';

/** Gives a source another name: in the log, in metrics, at `/debug/sources`. */
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

/** Gives a reading of a source another name. */
export function renamedReading(reading: ContributedReading, name: string): ContributedReading {
  return {
    ...reading,
    config: reading.config?.map((contribution) => ({ ...contribution, source: name })),
    parts: () => reading.parts().map((part) => ({ ...part, source: name })),
  };
}

/** The last reading that was passed on, and what to pass on now. */
interface Passed {
  readonly last: ContributedReading | undefined;
  readonly outputs: readonly SourceOutput[];
}

/**
 * Passes changes on only while `open$` is true. While it is false, the reading stays as it was, or
 * is empty if the gate was never open; a change in the meantime is passed on when the gate opens.
 * `open$` must emit its current value at once; until it does, the gate is closed.
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
  const events$ = merge(open$, unsaid$).pipe(
    distinctUntilChanged(),
    switchMap((isOpen): Observable<SourceOutput | undefined> =>
      isOpen ? follow(source) : of(undefined),
    ),
    // A source that was never passed on gives an empty reading, so that others do not wait for it.
    scan(
      ({ last }: Passed, passed): Passed => {
        const event = passed ?? { type: 'reading', reading: last ?? readingOf([]) };
        return { last: event.type === 'reading' ? event.reading : last, outputs: [event] };
      },
      { last: undefined, outputs: [] },
    ),
    mergeMap(({ outputs: events }) => events),
  );
  return sourceFromEvents(events$, { ...source, scheduler });
}

interface Projected {
  readonly how: 'made' | 'kept';
  readonly contribution: Contribution;
}

interface Mapped extends Passed {
  /** The sources that keep their previous contents, because `project` threw. */
  readonly kept: ReadonlySet<string>;
}

/**
 * Transforms each content by `project`, for example into one member of a document; undefined for no
 * content. While `project` throws, the previous content stays, and the reason is reported.
 */
export function mapped(
  source: ContributingSource,
  project: (content: Content) => Content | undefined,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  function projected(given: Contribution, before: Contribution | undefined): Projected {
    if (given.content === undefined) return { how: 'made', contribution: given };
    try {
      const content = project(given.content);
      return { how: 'made', contribution: { ...given, content, hash: contentHash(content) } };
    } catch (error) {
      const kept = { content: before?.content, hash: before?.hash ?? '' };
      return { how: 'kept', contribution: { ...given, ...kept, trouble: reasonOf(error) } };
    }
  }
  const events$ = follow(source).pipe(
    scan(
      ({ last, kept }: Mapped, event): Mapped => {
        if (event.type !== 'reading') {
          // The source can be read, but its content still cannot be used.
          const isUseless =
            event.type === 'source-read' && last !== undefined && kept.has(event.source);
          return { last, kept, outputs: [isUseless ? { type: 'reading', reading: last } : event] };
        }
        const results = (event.reading.config ?? []).map((given, place) =>
          projected(given, last?.config?.[place]),
        );
        const reading = readingOf(results.map(({ contribution }) => contribution));
        return {
          last: reading,
          kept: new Set(
            results.flatMap(({ how, contribution }) =>
              how === 'kept' ? [contribution.source] : [],
            ),
          ),
          outputs: [{ type: 'reading', reading }],
        };
      },
      { last: undefined, kept: new Set<string>(), outputs: [] },
    ),
    mergeMap(({ outputs: events }) => events),
  );
  return sourceFromEvents(events$, { ...source, scheduler });
}

/**
 * Also reads the source every `every` ms, if it cannot notice its changes. A change is reported at
 * the next reading; until then the reading stays as it was. A source made by `source()` has its own
 * option `every` instead.
 */
export function polled<N extends number>(
  source: ContributingSource,
  every: Ms<N>,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const due$ = interval(inMs('polled: every', every), scheduler).pipe(
    map((): SourceChange => ({ type: 'changed' })),
  );
  return sourceFromEvents(follow({ ...source, changes$: merge(source.changes$, due$) }), {
    ...source,
    scheduler,
  });
}

/** Shares a source: it is read only once for all its users. */
export function shared(
  source: ContributingSource,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  return sourceFromEvents(follow(source), { ...source, scheduler });
}
