import type { ServerResponse } from 'node:http';
import { Session } from 'node:inspector';
import { asyncScheduler, Observable, type SchedulerLike, timer } from 'rxjs';
import { answer, type Handler } from './handler.ts';

/** In seconds. */
const standardDuration = 10;
const longestDuration = 30;

/**
 * Looks into the running program, one look at a time: `cpu` answers with what it does for `seconds` (10, at most 30), a `.cpuprofile`; `heap` with what it
 * holds, a `.heapsnapshot`, during which nothing else is done. DevTools of a browser open both.
 */
export function inspect(what: 'cpu' | 'heap', scheduler: SchedulerLike = asyncScheduler): Handler {
  return (request, response) =>
    new Observable((subscriber) => {
      if (request.method === 'HEAD') {
        begin(response, what).end();
        return;
      }
      if (looking) {
        answer(response, 409, 'somebody looks already');
        return;
      }
      looking = true;
      const session = new Session();
      session.connect();
      subscriber.add(() => {
        session.disconnect();
        looking = false;
      });
      const fail = (error: Error | null) => {
        if (error !== null) subscriber.error(error);
      };
      if (what === 'heap') {
        begin(response, 'heap');
        session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => void response.write(params.chunk));
        session.post('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, (error) => {
          fail(error);
          response.end();
        });
        return;
      }
      const seconds = Number(new URLSearchParams(request.url?.replace(/^[^?]*\??/, '')).get('seconds') ?? standardDuration);
      if (!(seconds > 0 && seconds <= longestDuration)) {
        answer(response, 400, `seconds=, more than 0, at most ${longestDuration}`);
        return;
      }
      session.post('Profiler.enable', fail);
      session.post('Profiler.start', fail);
      subscriber.add(
        timer(seconds * 1000, scheduler).subscribe({
          error: (error: unknown) => subscriber.error(error),
          next: () =>
            session.post('Profiler.stop', (error, result) => {
              fail(error);
              begin(response, 'cpu').end(JSON.stringify(result.profile));
            }),
        }),
      );
    });
}

let looking = false;

function begin(response: ServerResponse, what: 'cpu' | 'heap'): ServerResponse {
  return response.writeHead(200, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="pilot-agent.${what === 'heap' ? 'heapsnapshot' : 'cpuprofile'}"`,
  });
}
