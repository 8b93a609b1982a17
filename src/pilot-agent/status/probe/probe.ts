import { ignoreElements, map, type Observable, of, switchMap, take, tap } from 'rxjs';
import { reasonName } from '../../report/reason-name.ts';
import { answer, type Handler } from '../../../shared/http/handler.ts';

/**
 * Answers a probe of the agent's own: 200 where `reason$` says nothing against it, otherwise 503
 * with the reason. As JSON, for whoever accepts that before text, with a name for the reason: its
 * words up to the first detail; and with what `notes$` says, which speaks against nothing but
 * should be known.
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
