import { NEVER, of } from 'rxjs';
import { describe, it } from 'vitest';
import type { SourceChange } from '../../src/streams/config-source.ts';
import { marbles } from './support/marbles.ts';
import { drawnSource, hashes, readings } from './support/readings.ts';

const minDelay = 10_000;
const signs: Record<string, SourceChange> = {
  r: { type: 'ready' },
  x: { type: 'changed', path: '/certs/key.pem' },
  f: { type: 'watch-failed', path: '/certs', reason: 'ENOSPC' },
};

describe('readings', () => {
  it(
    'emits the first reading at once, before any change',
    marbles((m) => {
      m.expectObservable(hashes(drawnSource({ changes$: NEVER, hash$: readings('A') }), { minDelay }), '^ 1s !').toBe('A');
    }),
  );

  it(
    'three events at once cause one reading after the delay',
    marbles((m) => {
      const changes$ = m.hot(' -(xxx)', signs);
      const unsub = '          ^ 2s !';
      //                        [ 500ms ]
      const hash$ = m.cold('   (A|)');
      const reads = ['         (^!)', '- 500ms (^!)'];
      const expected = '       A'; // the content is the same
      m.expectObservable(hashes(drawnSource({ changes$, hash$ }), { minDelay: 500 }), unsub).toBe(expected);
      m.expectSubscriptions(hash$.subscriptions).toBe(reads);
    }),
  );

  it(
    'reads at the end of the window that the first change opened, not at each change',
    marbles((m) => {
      const changes$ = m.hot(' -x 3s x 3s x 20s x -', signs);
      const unsub = '          ^ 50s !';
      //                        [ 10s   ]          [ 10s ]
      const expected = '       A 10s B 26002ms        C';
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'keeps a steady trickle from starving the proxy',
    marbles((m) => {
      const changes$ = m.hot(' x 4s x 4s x 4s x 4s x 4s x', signs);
      const unsub = '          ^ 25s !';
      //                       [ 10s    ]    [ 10s    ]
      const expected = '       A 9999ms B 12002ms     C';
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'reads at once when the source becomes ready',
    marbles((m) => {
      const changes$ = m.hot(' --r', signs);
      const unsub = '          ^ 20s !';
      const expected = '       A-B';
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('AB') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'reads every minute even if no change was heard',
    marbles((m) => {
      const changes$ = m.hot(' -', signs);
      const unsub = '          ^ 150s !';
      //                       [ 60s   ][ 10s ]
      const expected = '       A 69999ms B 59999ms C';
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'is silent while the reading stays the same',
    marbles((m) => {
      const changes$ = m.hot(' r 20s x 20s x 20s x -', signs);
      const unsub = '          ^ 85s !';
      const expected = '       A 30s B'; // six readings: two at 0, and at 30, 50, 60 and 70 s
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('AAB') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'reads nothing when watching fails',
    marbles((m) => {
      const changes$ = m.hot(' -f', signs);
      const unsub = '          ^ 30s !';
      const expected = '       A';
      m.expectObservable(hashes(drawnSource({ changes$, hash$: readings('AB') }), { minDelay }), unsub).toBe(expected);
    }),
  );

  it(
    'reads one at a time, in order, and subscribes to the changes once, after the first reading',
    marbles((m) => {
      const changes$ = m.hot(' 2s -r-r', signs);
      const hash$ = m.cold('   2s (A|)');
      const unsub = '          ^ 9s !';
      const reads = ['         ^ 1999ms !', '2001ms ^ 1999ms !', '4001ms ^ 1999ms !'];
      const expected = '       2s A';
      m.expectObservable(hashes(drawnSource({ changes$, hash$ }), { minDelay }), unsub).toBe(expected);
      m.expectSubscriptions(changes$.subscriptions).toBe('2s ^ 7s !');
      m.expectSubscriptions(hash$.subscriptions).toBe(reads);
    }),
  );

  it(
    'keeps reading when the source of changes has ended',
    marbles((m) => {
      const expected = '       (AB) 69996ms C'; // the net goes on
      m.expectObservable(hashes(drawnSource({ changes$: of({ type: 'ready' }), hash$: readings('ABC') }), { minDelay }), '^ 90s !').toBe(
        expected,
      );
    }),
  );
});
