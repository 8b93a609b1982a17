import { ignoreElements, map, type Observable, of, switchMap, take, tap } from 'rxjs';
import { reasonName } from '../../report/reason-name.ts';
import { answer, type Handler } from '../../../shared/http/handler.ts';

/**
 * Answers a probe of the agent itself: 200 if `reason$` emits no reason, otherwise 503 with the
 * reason. If `Accept` begins with `application/json`, the answer is JSON: the reason, its name as
 * {@link reasonName} returns it, and the notes of `notes$`. Notes do not change the status.
 */
export function probe(
  reason$: Observable<string | undefined>,
  notes$: Observable<readonly string[]> = of([]),
): Handler {
  return ({ headers }, response) =>
    reason$.pipe(
      take(1),
      switchMap((reason) =>
        notes$.pipe(
          take(1),
          map((notes) => [reason, notes] as const),
        ),
      ),
      tap(([reason, notes]) => {
        const status = reason === undefined ? 200 : 503;
        if (headers.accept?.startsWith('application/json') !== true)
          answer(response, status, reason);
        else
          answer(
            response,
            status,
            JSON.stringify({ ok: reason === undefined, pending: pending(reason), notes }),
            { 'content-type': 'application/json' },
          );
      }),
      ignoreElements(),
    );
}

function pending(
  reason: string | undefined,
): readonly { readonly name: string; readonly reason: string }[] {
  return reason === undefined ? [] : [{ name: reasonName(reason), reason }];
}
