import { defer, map, of, shareReplay, take } from 'rxjs';
import { expect, it } from 'vitest';
import { initialState } from '../../src/epochs/model.ts';
import { traffic } from '../../src/pilot-agent/run/status/traffic.ts';
import { marbles } from '../support/marbles/marbles.ts';

const live = (epoch: number) => {
  const process = {
    hash: 'a',
    restartEpoch: 0,
    lineage: 0,
    parentTime: 'over',
    stage: 'live',
    answering: true,
  } as const;
  return { agent: { ...initialState, epochs: new Map([[epoch, process]]) } };
};
/** Returns the counters of Envoy: those of requests, and of requests that failed. */
const stats = (requests: number, failures: number) =>
  [
    `listener.0.0.0.0_80.http.in.downstream_rq_completed: ${requests}`,
    `listener.0.0.0.0_80.http.in.downstream_rq_5xx: ${failures}`,
    'listener.0.0.0.0_80.downstream_cx_active: 3',
    'http.in.downstream_rq_active: 2',
    'listener.admin.http.admin.downstream_rq_completed: 99',
  ].join('\n');

it(
  'traffic is asked for once a second and only while somebody looks, and counts for the epoch that serves, over a child that counts from 0',
  marbles((m) => {
    const answers = [
      stats(100, 1),
      stats(110, 3),
      stats(4, 0),
      undefined,
      stats(6, 1),
      stats(7, 1),
    ];
    let requestCount = 0;
    const admin = {
      request: () =>
        defer(() => {
          const body = answers[requestCount++];
          return of(
            body === undefined
              ? { ok: false as const, error: new Error('no') }
              : { ok: true as const, value: { status: 200, body } },
          );
        }),
    };
    const views = { a: live(0), b: live(1) };
    const reports$ = traffic(
      m.hot('a 1.5s b', views).pipe(shareReplay({ bufferSize: 1, refCount: false })),
      admin,
    ).pipe(
      map((reports) =>
        reports.map(({ requests, failures, byEpoch }) =>
          [
            requests,
            failures,
            ...byEpoch.map((figures) => `${figures.epoch}: ${figures.requests}`),
          ].join(' '),
        ),
      ),
    );
    const first = {
      a: ['0 0 0: 0'],
      b: ['10 2 0: 10'],
      c: ['14 2 0: 10 1: 4'],
      d: ['14 2 0: 10 1: 4'],
    };
    m.expectObservable(reports$, '^ 3.5s !').toBe('a 999ms b 999ms c 999ms d', first);
    // A later subscriber receives the history, and then new values.
    const history = [...first.a, ...first.b, ...first.c, ...first.d];
    m.expectObservable(reports$.pipe(take(2)), '10s ^').toBe('10s (ab|)', {
      a: history,
      b: ['16 3 0: 10 1: 6'],
    });
    m.flush();
    expect(requestCount).toBe(5);
  }),
);
