import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { serverSentEvents } from '../../shared/http/server-sent-events.ts';
import { type LiveEvent, liveEventOf } from '../report/live-events.ts';
import type { PageMessage } from './page-state.ts';

/** In ms. The agent sends something each second. */
const longestSilence = 10_000;
/** The pause between two connections. In ms. */
const pause = 1_000;

/**
 * Emits the agent's events, and whether it can be reached. Each connection gives `connected`, then
 * its events. When it ends, or after 10 s of silence, `away` follows with the reason, and 1 s later
 * the next connection. Never completes, never errors. Cold.
 */
export function followAgent(
  connect$: () => Observable<readonly LiveEvent[]>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<PageMessage> {
  const ended$ = throwError(() => new Error('The agent has closed the connection'));
  const connection$ = concat(defer(connect$), ended$).pipe(
    timeout({
      each: longestSilence,
      with: () => throwError(() => new Error('The agent is silent')),
      scheduler,
    }),
    mergeMap((events): readonly PageMessage[] => {
      const receivedAt = scheduler.now();
      return [
        { type: 'connected', at: receivedAt },
        ...events.map((event): PageMessage => ({
          type: 'live-event',
          at: receivedAt,
          liveEvent: event,
        })),
      ];
    }),
    catchError((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      return concat(
        of<PageMessage>({ type: 'away', at: scheduler.now(), reason }),
        timer(pause, scheduler).pipe(ignoreElements()),
      );
    }),
  );
  return connection$.pipe(repeat());
}

/**
 * Emits the events of the stream at a URL, piece by piece. Completes with the stream, and errors
 * with the agent's reason if it refuses. Cold; unsubscribing closes the connection.
 */
export function connectTo(url: string): Observable<readonly LiveEvent[]> {
  return fromFetch(url, { selector: (response) => saidBy(response) }).pipe(
    catchError((error: unknown) => {
      // A browser gives no other reason if nothing listens on the port.
      throw error instanceof TypeError ? new Error('The agent does not answer') : error;
    }),
  );
}

function saidBy(response: Response): Observable<readonly LiveEvent[]> {
  if (!response.ok) {
    return defer(() => response.text()).pipe(
      map((text) => {
        throw new Error(text.trim() === '' ? `The agent answers ${response.status}` : text.trim());
      }),
    );
  }
  return piecesOf(response.body).pipe(
    serverSentEvents(),
    map((events) => events.flatMap(liveEventOf)),
  );
}

function piecesOf(body: ReadableStream<Uint8Array> | null): Observable<Uint8Array> {
  return body === null ? of() : defer(() => body as unknown as AsyncIterable<Uint8Array>);
}
