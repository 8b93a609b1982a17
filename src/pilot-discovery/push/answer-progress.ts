import {
  asyncScheduler,
  concat,
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
 * Emits `taken` when an answer has left for the proxy. Until then it emits `untaken` after 5 ms
 * (the next answer may then be written), `late` after 5 s, and `stuck` after 5 minutes. Completes
 * after `taken` or `stuck`. Subscribes once to `delivery$`; errors if that errors. Cold.
 */
export function answerProgress(
  delivery$: Observable<unknown>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<AnswerProgress> {
  const { writing, late, reading } = clientLimits;
  // One timer at a time: most answers are taken before the first one is over.
  const slow$ = concat(
    after$('untaken', writing.value, scheduler),
    after$('late', late.value - writing.value, scheduler),
    after$('stuck', reading.value - late.value, scheduler),
  );
  return merge(delivery$.pipe(map((): AnswerProgress => 'taken')), slow$).pipe(
    takeWhile((progress) => progress === 'untaken' || progress === 'late', true),
  );
}

const after$ = (
  progress: AnswerProgress,
  ms: number,
  scheduler: SchedulerLike,
): Observable<AnswerProgress> => timer(ms, scheduler).pipe(map(() => progress));
