import type { IncomingMessage } from 'node:http';
import {
  concat,
  fromEvent,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  repeat,
  switchMap,
  throwError,
  timeout,
} from 'rxjs';
import { bodyOf, openHttp } from '../../shared/http/http-answer.ts';
import { serverSentEvents } from '../../shared/http/server-sent-events.ts';
import { settle } from '../../operators/settle.ts';
import { liveEventOf } from '../report/live-events.ts';
import type { TopEvent } from '../terminal/top-model.ts';
import { bySocket, whyNot } from './agent-socket.ts';

/** The time limit of an answer. In ms. */
const answering = 5_000;
/** The longest silence of an agent, which sends something at least every 15 s. In ms. */
const silence = 20_000;
/** The interval between two attempts to reach the agent. In ms. */
const pause = 500;
const url = 'http://localhost/debug/events';

/**
 * Emits the live events of the agent of a folder: `connected` when it begins to send, each of its
 * events, and `away` with the reason when it ends or cannot be reached. Then asks again after half
 * a second. Cold; never completes, never errors.
 */
export function liveEvents(folder: string): Observable<TopEvent> {
  return concat(
    bySocket(folder, (socketPath) => openHttp(url, { socketPath }).pipe(switchMap(heard))),
    throwError(() => new Error('it has closed the connection')),
  ).pipe(
    timeout({ first: answering, with: () => throwError(() => quiet(answering)) }),
    settle(),
    map((outcome): TopEvent =>
      outcome.ok ? outcome.value : { type: 'away', reason: whyNot(outcome.error) },
    ),
    repeat({ delay: pause }),
  );
}

function heard(answer: IncomingMessage): Observable<TopEvent> {
  if (answer.statusCode !== 200)
    return bodyOf(answer, 1_024).pipe(
      mergeMap((body) =>
        throwError(() => new Error(`it answers ${String(answer.statusCode)}: ${body.toString()}`)),
      ),
    );
  const events$ = (fromEvent(answer, 'data') as Observable<Buffer>).pipe(
    timeout({ each: silence, with: () => throwError(() => quiet(silence)) }),
    serverSentEvents(),
    mergeMap((events) => events.flatMap(liveEventOf)),
    map((live): TopEvent => ({ type: 'heard', live })),
  );
  return merge(of({ type: 'connected' } as const), events$);
}

function quiet(ms: number): Error {
  return new Error(`it has sent nothing for ${ms / 1_000} s`);
}
