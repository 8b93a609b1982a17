import type { ServerResponse } from 'node:http';
import { type Profiler, Session } from 'node:inspector';
import {
  asyncScheduler,
  bindNodeCallback,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  Observable,
  type SchedulerLike,
  tap,
  timer,
} from 'rxjs';
import { answer, type Handler } from '../../shared/http/handler.ts';

/** In seconds. */
const standardDuration = 10;
const longestDuration = 30;

/**
 * Inspects the running program, one inspection at a time. `/debug/pprof/profile` answers with a CPU
 * profile (`.cpuprofile`) of `seconds`: 10 by default, 30 at most. `/debug/pprof/heap` answers with
 * a heap snapshot (`.heapsnapshot`); nothing else runs while it is taken. The DevTools of a browser
 * open both.
 */
export function inspect(scheduler: SchedulerLike = asyncScheduler): Handler {
  let isLooking = false;
  return (request, response) =>
    defer(() => {
      const [path = '', query] = (request.url ?? '').split('?', 2);
      const kind = path.endsWith('/heap') ? 'heapsnapshot' : 'cpuprofile';
      if (request.method === 'HEAD') {
        begin(response, kind).end();
        return EMPTY;
      }
      if (isLooking) {
        answer(response, 409, 'another inspection is running');
        return EMPTY;
      }
      const seconds = Number(new URLSearchParams(query).get('seconds') ?? standardDuration);
      if (kind === 'cpuprofile' && !(seconds > 0 && seconds <= longestDuration)) {
        answer(response, 400, `seconds must be more than 0 and at most ${longestDuration}`);
        return EMPTY;
      }
      isLooking = true;
      const session = new Session();
      session.connect();
      const piece$ =
        kind === 'heapsnapshot' ? heap(session) : cpu(session, timer(seconds * 1000, scheduler));
      return piece$.pipe(
        tap({
          next: (piece) => (response.headersSent ? response : begin(response, kind)).write(piece),
          complete: () => response.end(),
        }),
        ignoreElements(),
        finalize(() => {
          session.disconnect();
          isLooking = false;
        }),
      );
    });
}

/** Emits a CPU profile of the time until `elapsed$` completes, as JSON, and completes. Cold. */
function cpu(session: Session, elapsed$: Observable<unknown>): Observable<string> {
  return concat(
    concat(bindNodeCallback(enable)(), bindNodeCallback(start)(), elapsed$).pipe(ignoreElements()),
    bindNodeCallback(stop)().pipe(map(({ profile }) => JSON.stringify(profile))),
  );

  function enable(done: (error: Error | null) => void): void {
    session.post('Profiler.enable', done);
  }
  function start(done: (error: Error | null) => void): void {
    session.post('Profiler.start', done);
  }
  function stop(done: (error: Error | null, result: Profiler.StopReturnType) => void): void {
    session.post('Profiler.stop', done);
  }
}

/** Emits a snapshot of the heap, piece by piece, without a pause, and completes. Cold. */
function heap(session: Session): Observable<string> {
  return new Observable((subscriber) => {
    session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => subscriber.next(params.chunk));
    session.post('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, (error) => {
      if (error === null) subscriber.complete();
      else subscriber.error(error);
    });
  });
}

function begin(response: ServerResponse, kind: 'heapsnapshot' | 'cpuprofile'): ServerResponse {
  return response.writeHead(200, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="pilot-agent.${kind}"`,
  });
}
