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

/** How long an agent has to answer. In ms. */
const answering = 5_000;
/** An agent that is well says something each 15 s at least. In ms. */
const silence = 20_000;
/** Between two tries to reach the agent. In ms. */
const pause = 500;
const url = 'http://localhost/debug/events';

/**
 * What the agent of a folder sends of itself: `connected` whenever it begins to, all that it says,
 * `away` with the reason when it ends or cannot be reached. It is asked again half a second later.
 * Cold; never completes, never errors.
 */
export function liveEvents(folder: string): Observable<TopEvent> {
  return concat(
    bySocket(folder, (socketPath) => openHttp(url, { socketPath }).pipe(switchMap(heard))),
    throwError(() => new Error('it has hung up')),
  ).pipe(
    timeout({ first: answering, with: () => throwError(() => quiet(answering)) }),
    settle(),
    map((one): TopEvent => (one.ok ? one.value : { type: 'away', reason: whyNot(one.error) })),
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
  return new Error(`it has said nothing for ${ms / 1_000} s`);
}
