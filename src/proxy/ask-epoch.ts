import { ignoreElements, map, type Observable, of, switchMap } from 'rxjs';
import type { Health, Proxy } from '../epochs/ports.ts';
import { type AdminClient, parseStats } from './admin-client.ts';
import { activeFilter, activeRequests, hasInbound, isLive } from './admin-questions.ts';
import type { RunningProcess } from './processes.ts';

/**
 * The wait for an answer, in ms. An admin endpoint that is handed over may leave a question
 * unanswered, which must not delay the next one.
 */
const answerWithin = 500;

/** Asks for the health of a process, and notes that it was LIVE. Works as `Proxy.health`. */
export function askHealth(
  running: RunningProcess | undefined,
  admin: AdminClient,
): Observable<Health> {
  const answer$ = (path: string) => admin.request('GET', path, answerWithin);
  // Until this epoch was seen LIVE, 110 KB of JSON show which epoch answers; after that any LIVE
  // answer is enough.
  const isKnown = running?.seenLive === true;
  return answer$('/ready').pipe(
    switchMap((ready) =>
      isKnown || !ready.ok || ready.value.status !== 200 ? of(ready) : answer$('/server_info'),
    ),
    map((answer): Health => {
      if (!answer.ok) return admin.located() ? 'unresponsive' : 'unknown';
      const live = answer.value.status === 200 && (isKnown || isLive(answer.value.body, running));
      if (live && running !== undefined) running.seenLive = true;
      return live ? 'live' : 'up';
    }),
  );
}

/** Asks an Envoy to drain all listeners, or only the inbound ones. Works as `Proxy.drain`. */
export function askDrain(
  admin: AdminClient,
  how: Parameters<Proxy['drain']>[1],
  drainsAll: boolean,
): Observable<never> {
  const inboundOnly$ = how === 'close' || drainsAll ? of(false) : hasInbound(admin);
  return inboundOnly$.pipe(
    map((inboundOnly) =>
      [
        ...(inboundOnly ? ['inboundonly'] : []),
        ...(how === 'graceful' ? ['graceful', 'skip_exit'] : []),
      ].join('&'),
    ),
    switchMap((query) => admin.request('POST', `/drain_listeners?${query}`)),
    ignoreElements(),
  );
}

/** Asks for the number of requests in flight. Works as `Proxy.active`. */
export function askActive(admin: AdminClient): Observable<number | undefined> {
  return admin
    .request('GET', `/stats?filter=${encodeURIComponent(activeFilter)}`)
    .pipe(
      map((answer) =>
        answer.ok && answer.value.status === 200
          ? activeRequests(parseStats(answer.value.body))
          : undefined,
      ),
    );
}
