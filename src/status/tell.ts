import type { IncomingMessage } from 'node:http';
import { ignoreElements, type Observable, take, tap } from 'rxjs';
import { answer } from './answer.ts';
import type { Handler } from './handler.ts';

/** Answers with the newest of what `what$` emits, which it does at once, as JSON; or with why `guard` refuses that. */
export function tell(what$: Observable<unknown>, guard: (request: IncomingMessage) => readonly [number, string] | undefined): Handler {
  return (request, response) =>
    what$.pipe(
      take(1),
      tap((what) => {
        const refusal = guard(request);
        if (refusal === undefined) answer(response, 200, JSON.stringify(what, undefined, 2), { 'content-type': 'application/json' });
        else answer(response, ...refusal);
      }),
      ignoreElements(),
    );
}
