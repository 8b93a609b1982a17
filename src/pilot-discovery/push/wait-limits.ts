import { map, merge, type Observable, type SchedulerLike, switchMap, take, timer } from 'rxjs';
import type { ProxyEvent } from './proxy-stream.ts';

/** How long a proxy that connects again may take to request all its types, in ms. */
const introduction = 1_000;

/** How long a proxy may take to ACK clusters, and to request and ACK their endpoints, in ms. */
const warming = 5_000;

/**
 * Emits when the time to wait for a proxy is over: `introduced` once, 1 s after its first request;
 * `warmed` 5 s after the last answer with clusters. Completes after both sources.
 */
export function waitLimits(
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
