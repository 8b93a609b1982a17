import {
  asyncScheduler,
  concat,
  concatMap,
  connect,
  distinctUntilChanged,
  interval,
  merge,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { coalesce } from '../operators/coalesce.ts';
import { ofType } from '../operators/tagged-union.ts';
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
 * The source is read `minDelay` after the first of a row of changes, at once when it becomes ready, and every `reread` ms (60 s) as if there had
 * been a change. Readings come one at a time. The first one waits for no change, and nothing is watched before it, so that the first epoch does not wait for the watcher
 * either. Cold, never ends; errors only if the source does.
 */
export function configHash(
  { changes$, hash$ }: ConfigSource,
  { minDelay, reread = 60_000 }: ConfigHashDelays,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string> {
  const occasions$ = changes$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(ofType('ready')), // what changed before it went unheard
        // The net opens a window too: it is not to read in the middle of a change.
        merge(shared$.pipe(ofType('changed')), interval(reread, scheduler)).pipe(coalesce(minDelay, scheduler)),
      ),
    ),
  );
  return concat(hash$, occasions$.pipe(concatMap(() => hash$))).pipe(distinctUntilChanged());
}
