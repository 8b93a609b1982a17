import { EMPTY, finalize, ignoreElements, map, merge, type Observable, tap, timer } from 'rxjs';
import type { LiveEvent } from '../report/live-events.ts';
import { insideGuard } from '../../shared/http/control-guard.ts';
import { answer, type Handler } from '../../shared/http/handler.ts';

/** In ms. A client would consider a silent connection stuck. */
const heartbeat = 15_000;
/** In bytes: how much may wait for a slow reader. */
const mostWaiting = 4 << 20;

/**
 * Answers with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)
 * until the client leaves. Serves at most `most` clients at a time, and answers 503 to one more.
 * Disconnects a client that reads too slowly; it may connect again.
 */
export function eventStream(events$: Observable<LiveEvent>, most: number): Handler {
  let open = 0;
  return (request, response) => {
    const refusal =
      insideGuard(request) ??
      (open >= most ? ([503, `There are ${most} event streams already`] as const) : undefined);
    const type = { 'content-type': 'text/event-stream' };
    if (refusal !== undefined || request.method === 'HEAD') {
      if (refusal === undefined) answer(response, 200, '', type);
      else answer(response, ...refusal);
      return EMPTY;
    }
    open += 1;
    response.writeHead(200, {
      ...type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.flushHeaders();
    return merge(
      events$.pipe(map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)),
      timer(heartbeat, heartbeat).pipe(map(() => ':\n\n')),
    ).pipe(
      tap((text) => {
        response.write(text);
        if (response.writableLength > mostWaiting) response.destroy();
      }),
      finalize(() => (open -= 1)),
      ignoreElements(),
    );
  };
}
