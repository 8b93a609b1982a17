import type { IncomingMessage, ServerResponse } from 'node:http';
import { firstValueFrom, mergeMap, Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Handler } from '../../src/shared/http/handler.ts';
import { inspect } from '../../src/pilot-agent/status/profile.ts';
import { marbles } from '../support/marbles/marbles.ts';

const profile = '/debug/pprof/profile';
const heap = '/debug/pprof/heap';
const statuses = { y: 200, n: 409, b: 400 };

/** Draws requests to the real profiler: the status of each answer when the answer is complete. */
function draw(m: RunHelpers) {
  const handler = inspect();
  return {
    ask: (times: string, url: string) => m.hot(times).pipe(mergeMap(() => answered(handler, url))),
  };
}

function answered(handler: Handler, url: string): Observable<number> {
  return new Observable((subscriber) => {
    let status = 0;
    const response = {
      headersSent: false,
      writeHead(code: number) {
        status = code;
        response.headersSent = true;
        return response;
      },
      write: () => true,
      end: () => subscriber.next(status),
    };
    const request = { url, method: 'GET' } as unknown as IncomingMessage;
    return handler(request, response as unknown as ServerResponse).subscribe({
      error: expect.unreachable,
    });
  });
}

describe('inspect', () => {
  it(
    'takes one profile at a time, of 10 s if nothing else is asked for',
    marbles((m) => {
      const stage = draw(m);
      m.expectObservable(stage.ask('    a 4999ms a 5999ms a', profile)).toBe(
        '5s n 4999ms y 10999ms y',
        statuses,
      );
    }),
  );

  it(
    'takes one of as long as is asked for, and looks at nothing else meanwhile',
    marbles((m) => {
      const stage = draw(m);
      m.expectObservable(stage.ask('   a 1999ms a', `${profile}?seconds=2.5`)).toBe(
        '2s n 499ms y',
        statuses,
      );
      m.expectObservable(stage.ask('   1s a', heap)).toBe(
        '                          1s n',
        statuses,
      );
    }),
  );

  it('takes what the memory holds, one after the other', async () => {
    const handler = inspect(); // in real time: newer versions of Node deliver the pieces later
    const statusOf = () => firstValueFrom(answered(handler, heap), { defaultValue: 0 });
    expect([await statusOf(), await statusOf()]).toEqual([200, 200]);
  });

  it(
    'refuses another time than 30 s or less, and is free again at once',
    marbles((m) => {
      const stage = draw(m);
      m.expectObservable(stage.ask('   a', `${profile}?seconds=31`)).toBe('b', statuses);
      m.expectObservable(stage.ask('   -a', `${profile}?seconds=30`)).toBe('- 30s y', statuses);
    }),
  );

  it(
    'lets the next one look when who looked has gone',
    marbles((m) => {
      const stage = draw(m);
      m.expectObservable(stage.ask('   a', profile), '^ 4999ms !').toBe('-');
      m.expectObservable(stage.ask('   6s a', profile)).toBe('16s y', statuses);
    }),
  );
});
