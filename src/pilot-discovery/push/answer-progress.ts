import {
  asyncScheduler,
  map,
  merge,
  type Observable,
  type SchedulerLike,
  takeWhile,
  timer,
} from 'rxjs';
import { clientLimits } from './client-limits.ts';

/** The progress of an answer that is written to a proxy. */
export type AnswerProgress = 'taken' | 'untaken' | 'late' | 'stuck';

/**
 * Emits `taken` when an answer has left for the proxy. Before that it emits `untaken` if the turn
 * of the answer is over, `late` after 5 s, and `stuck` if the proxy takes nothing for 5 minutes.
 * Completes after `taken` or `stuck`. Subscribes once to `taken$`, and errors if that does. Cold.
 */
export function answerProgress(
  taken$: Observable<unknown>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AnswerProgress> {
  const { writing, late, reading } = clientLimits;
  return merge(
    taken$.pipe(map(() => 'taken' as const)),
    timer(writing.value, scheduler).pipe(map(() => 'untaken' as const)),
    timer(late.value, scheduler).pipe(map(() => 'late' as const)),
    timer(reading.value, scheduler).pipe(map(() => 'stuck' as const)),
  ).pipe(takeWhile((progress) => progress === 'untaken' || progress === 'late', true));
}
