import {
  asyncScheduler,
  concatMap,
  connect,
  distinctUntilChanged,
  EMPTY,
  interval,
  merge,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { startWith } from 'rxjs';
import { coalesce } from '../operators/coalesce.ts';
import { ofType } from '../operators/of-type.ts';
import type { ConfigSource } from './config-source.ts';

/** In ms. */
export interface ConfigHashDelays {
  /** From the first change to the reading that takes in all of them. */
  readonly minDelay: number;
  /** Between two readings that nobody asked for, the net below a lost event. */
  readonly reread?: number;
}

/**
 * Emits the hash of the configuration: at once, and then whenever a reading differs from the one before.
 *
 * The source is read `minDelay` after the first of a row of changes, at once when it becomes ready or `restart$` emits, and every `reread` ms
 * (60 s). Readings come one at a time. Cold, never ends; errors only if the source does.
 */
export function configHash(
  { changes$, hash$ }: ConfigSource,
  { minDelay, reread = 60_000 }: ConfigHashDelays,
  restart$: Observable<unknown> = EMPTY,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string> {
  return changes$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(ofType('ready')), // what changed before it went unheard
        shared$.pipe(ofType('changed'), coalesce(minDelay, scheduler)),
        restart$,
        interval(reread, scheduler),
      ),
    ),
    startWith('kick start'), // the first epoch waits for no change
    concatMap(() => hash$),
    distinctUntilChanged(),
  );
}
