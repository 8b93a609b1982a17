import { map, merge, type Observable, type SchedulerLike, switchMap, take, timer } from 'rxjs';
import type { ProxyEvent } from './proxy-stream.ts';

/** A proxy that comes back asks for all types that it has at once: it has so many ms for that. */
const introduction = 1_000;

/** So many ms a proxy has to accept clusters, to ask for their endpoints, and to accept those. */
const warming = 5_000;

/**
 * How long a proxy is waited for: `introduced` once, 1 s after its first request; `warmed` 5 s
 * after it was given clusters the last time. Ends with both.
 */
export function patience(
  request$: Observable<unknown>,
  clusters$: Observable<unknown>,
  scheduler?: SchedulerLike,
): Observable<ProxyEvent> {
  const introduced$ = request$.pipe(
    take(1),
    switchMap(() => timer(introduction, scheduler)),
    map((): ProxyEvent => ({ type: 'introduced' })),
  );
  const warmed$ = clusters$.pipe(
    switchMap(() => timer(warming, scheduler)),
    map((): ProxyEvent => ({ type: 'warmed' })),
  );
  return merge(introduced$, warmed$);
}
