import { asyncScheduler, type Observable, of, type SchedulerLike, switchMap, timeout, timer } from 'rxjs';
import type { HttpAnswer } from '../node/http-answer.ts';
import type { Settled } from '../operators/settle.ts';
import { type GottenToken, gottenToken } from './gotten-token.ts';

export type TokenAnswer = { readonly ok: true; readonly token: GottenToken } | { readonly ok: false; readonly reason: string };

/** Of one answer, in ms; how often, and how long after a failure, in ms, it is asked for again. */
const patience = 5_000;
const tries = 5;
const pause = 10;

/**
 * Asks until a token comes back, 5 times at most: each subscription to `answer$` is a whole request (the Go agent sends an empty body from the second time on). A
 * refusal (4xx) is not tried again. Emits one answer and completes. Never errors.
 */
export function askForToken(answer$: Observable<Settled<HttpAnswer>>, scheduler: SchedulerLike = asyncScheduler): Observable<TokenAnswer> {
  function attempt(left: number): Observable<TokenAnswer> {
    const silent: Settled<HttpAnswer> = { ok: false, error: new Error(`no answer within ${patience / 1000} s`) };
    return answer$.pipe(
      timeout({ first: patience, with: () => of(silent), scheduler }),
      switchMap((answer) => {
        const status = answer.ok ? answer.value.status : 0;
        if (status === 200 && answer.ok) {
          const token = gottenToken(answer.value.body, scheduler.now());
          return of<TokenAnswer>(token === undefined ? { ok: false, reason: 'the answer has no token' } : { ok: true, token });
        }
        if (left > 1 && (status < 400 || status >= 500)) return timer(pause, scheduler).pipe(switchMap(() => attempt(left - 1)));
        return of<TokenAnswer>({ ok: false, reason: answer.ok ? `the answer is ${status}` : (answer.error as Error).message });
      }),
    );
  }
  return attempt(tries);
}
