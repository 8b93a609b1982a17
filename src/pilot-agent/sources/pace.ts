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
import { follow, held, type ToldBySource } from './held.ts';

/**
 * At most one change every `atLeast` ms, whatever the window (`--minDelay`) of the agent: the first
 * at once, the newest when the time is over. The reading stays what it was meanwhile.
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
 * A change once the source has said the same for `quiet` ms, whatever the window (`--minDelay`) of
 * the agent; its first reading at once. The reading stays what it was meanwhile.
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
 * A change `window` ms after the first of a row, in the place of the window (`--minDelay`) of the
 * agent, which does not wait then; its first reading at once. The reading stays what it was
 * meanwhile.
 */
export function windowed(
  source: ContributingSource,
  window: number,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const own: ContributingSource = { ...source, reading$: source.reading$.pipe(map(gathered)) };
  return paced(own, afterFirst(coalesce(window, scheduler)), scheduler);
}

function gathered(reading: ContributedReading): ContributedReading {
  return { ...reading, config: reading.config?.map((one) => ({ ...one, isGathered: true })) };
}

type Reading = Extract<ToldBySource, { readonly type: 'reading' }>;

/**
 * The readings that differ, passed on at the times of `pace$`. That it has nothing yet is passed on
 * at once, so that who waits for the first content waits for that alone.
 */
function paced(
  source: ContributingSource,
  pace$: MonoTypeOperatorFunction<Reading>,
  scheduler: SchedulerLike,
): ContributingSource {
  const told$ = follow(source).pipe(
    connect((shared$): Observable<ToldBySource> => {
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
  return held(told$, { ...source, scheduler });
}

function isEmpty({ reading: { config = [] } }: Reading): boolean {
  return config.every(({ hash }) => hash === '');
}

/** The first value at once, and all others by `pace$`. */
function afterFirst<T>(pace$: MonoTypeOperatorFunction<T>): MonoTypeOperatorFunction<T> {
  return connect((shared$) => merge(shared$.pipe(take(1)), shared$.pipe(skip(1), pace$)));
}
