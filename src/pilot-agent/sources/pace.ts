import {
  asyncScheduler,
  connect,
  debounceTime,
  distinctUntilChanged,
  filter,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  type SchedulerLike,
  skip,
  skipWhile,
  take,
  takeWhile,
  throttleTime,
} from 'rxjs';
import { coalesce } from '../../operators/coalesce.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { ContributedReading, ContributingSource } from './contribution.ts';
import { inMs, type Ms } from './ms.ts';
import { follow, sourceFromEvents, type SourceOutput } from './source-from-events.ts';

/**
 * Passes on at most one change every `atLeast` ms, whatever the agent's window (`--minDelay`) is:
 * the first change at once, the newest one when the time is over. Until then the reading stays as
 * it was.
 */
export function throttled<N extends number>(
  source: ContributingSource,
  atLeast: Ms<N>,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  return paced(
    source,
    throttleTime(inMs('throttled: atLeast', atLeast), scheduler, { leading: true, trailing: true }),
    scheduler,
  );
}

/**
 * Passes on a change when the source has stayed the same for `quiet` ms, whatever the agent's
 * window (`--minDelay`) is; the first reading at once. Until then the reading stays as it was.
 */
export function debounced<N extends number>(
  source: ContributingSource,
  quiet: Ms<N>,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  return paced(
    source,
    afterFirst(debounceTime(inMs('debounced: quiet', quiet), scheduler)),
    scheduler,
  );
}

/**
 * Passes on a change `window` ms after the first one of a series, instead of the agent's window
 * (`--minDelay`), which then does not apply; the first reading at once. Until then the reading
 * stays as it was.
 */
export function windowed(
  source: ContributingSource,
  window: number,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const gatheredSource: ContributingSource = {
    ...source,
    reading$: source.reading$.pipe(map(gathered)),
  };
  return paced(gatheredSource, afterFirst(coalesce(window, scheduler)), scheduler);
}

function gathered(reading: ContributedReading): ContributedReading {
  return {
    ...reading,
    config: reading.config?.map((contribution) => ({ ...contribution, isGathered: true })),
  };
}

type Reading = Extract<SourceOutput, { readonly type: 'reading' }>;

/**
 * Passes on changed readings at the times of `pace$`. Passes on an empty reading at once, so that a
 * consumer waits only for the first content.
 */
function paced(
  source: ContributingSource,
  pace$: MonoTypeOperatorFunction<Reading>,
  scheduler: SchedulerLike,
): ContributingSource {
  const output$ = follow(source).pipe(
    connect((shared$): Observable<SourceOutput> => {
      const reading$ = shared$.pipe(
        ofType('reading'),
        distinctUntilChanged((a, b) => a.reading.hash === b.reading.hash),
      );
      return merge(
        shared$.pipe(filter(({ type }) => type !== 'reading')),
        reading$.pipe(takeWhile(isEmpty)),
        reading$.pipe(skipWhile(isEmpty), pace$),
      );
    }),
  );
  return sourceFromEvents(output$, { ...source, scheduler });
}

function isEmpty({ reading: { config = [] } }: Reading): boolean {
  return config.every(({ hash }) => hash === '');
}

/** Passes on the first value at once, and all others by `pace$`. */
function afterFirst<T>(pace$: MonoTypeOperatorFunction<T>): MonoTypeOperatorFunction<T> {
  return connect((shared$) => merge(shared$.pipe(take(1)), shared$.pipe(skip(1), pace$)));
}
