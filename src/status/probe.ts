import { ignoreElements, type Observable, take, tap } from 'rxjs';
import { answer } from './answer.ts';
import type { Handler } from './handler.ts';

/**
 * Answers a probe of the agent's own: 200 where `reason$` says nothing against it, otherwise 503 with the reason. As JSON, for whoever accepts that before text, with
 * a name for the reason: its words up to the first detail.
 */
export function probe(reason$: Observable<string | undefined>): Handler {
  return ({ headers }, response) =>
    reason$.pipe(
      take(1),
      tap((reason) => {
        const status = reason === undefined ? 200 : 503;
        if (headers.accept?.startsWith('application/json') !== true) answer(response, status, reason);
        else answer(response, status, JSON.stringify({ ok: reason === undefined, pending: pending(reason) }), { 'content-type': 'application/json' }); // prettier-ignore
      }),
      ignoreElements(),
    );
}

function pending(reason: string | undefined): readonly { readonly name: string; readonly reason: string }[] {
  if (reason === undefined) return [];
  const [words = ''] = reason.split(/[:,(]/);
  return [{ name: words.trim().toLowerCase().replace(/[^a-z0-9]+/g, '-'), reason }]; // prettier-ignore
}
