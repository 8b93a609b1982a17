import { defer, filter, map, NEVER, of } from 'rxjs';
import { describe, it } from 'vitest';
import { ofType } from '../../src/operators/tagged-union.ts';
import type { SourceChange } from '../../src/streams/config-source.ts';
import { sourceSigns } from '../../src/streams/readings.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { drawnSource, hashes, readings } from '../support/marbles/readings.ts';

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
      m.expectObservable(
        hashes(drawnSource({ changes$: NEVER, hash$: readings('A') }), { minDelay }),
        '^ 1s !',
      ).toBe('A');
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
      m.expectObservable(hashes(drawnSource({ changes$, hash$ }), { minDelay: 500 }), unsub).toBe(
        expected,
      );
      m.expectSubscriptions(hash$.subscriptions).toBe(reads);
    }),
  );

  it(
    'reads at the end of the window that the first change opened, not at each change',
    marbles((m) => {
      const changes$ = m.hot(
        at({ '1ms': 'x', '3.002s': 'x', '6.003s': 'x', '26.004s': 'x' }),
        signs,
      );
      const unsub = '^ 50s !';
      // 10 s after the first change, and after the fourth
      const expected = at({ '0s': 'A', '10.001s': 'B', '36.004s': 'C' });
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'keeps a steady trickle from starving the proxy',
    marbles((m) => {
      const changes$ = m.hot(
        at({
          '0s': 'x',
          '4.001s': 'x',
          '8.002s': 'x',
          '12.003s': 'x',
          '16.004s': 'x',
          '20.005s': 'x',
        }),
        signs,
      );
      const unsub = '^ 25s !';
      // 10 s after the first change, and after the fourth
      const expected = at({ '0s': 'A', '10s': 'B', '22.003s': 'C' });
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'foresees at the first pause of a window what it will bring, once, and only what is new',
    marbles((m) => {
      // Each window lasts 10 s from its first change. A pause of 500 ms within it and its end each
      // cause a reading.
      const changes$ = m.hot(
        at({ '1s': 'x', '1.3s': 'x', '5s': 'x', '20s': 'x', '40s': 'x', '40.4s': 'x' }),
        signs,
      );
      const read$ = sourceSigns(drawnSource({ changes$, hash$: readings('ABCCDE') }), {
        minDelay,
        quiet: 500,
      }).pipe(
        filter((sign) => sign.type === 'foreseen' || sign.type === 'read'),
        map(({ type, reading }) =>
          type === 'foreseen' ? reading.hash.toLowerCase() : reading.hash,
        ),
      );
      // At 20.5 s there is nothing new.
      const expected = at({
        '0s': 'A',
        '1.8s': 'b',
        '11s': 'C',
        '30s': 'D',
        '40.9s': 'e',
        '50s': 'E',
      });
      m.expectObservable(read$, '^ 55s !').toBe(expected);
    }),
  );

  it(
    'does not read ahead what the window would read as early, and forgets a reading ahead that errors',
    marbles((m) => {
      const changes$ = m.hot('1s x', signs);
      const none$ = sourceSigns(drawnSource({ changes$, hash$: readings('AB') }), {
        minDelay: 500,
        quiet: 500,
      });
      m.expectObservable(none$.pipe(map(({ type }) => type[0] ?? '')), '^ 5s !').toBe(
        at({ '0s': 'r', '1s': 'cw', '1.5s': 'r' }),
      );
      const hash$ = [m.cold('(A|)'), m.cold('#'), m.cold('(B|)')];
      let next = 0;
      const errs$ = sourceSigns(
        drawnSource({ changes$, hash$: defer(() => hash$[next++] ?? NEVER) }),
        { minDelay, quiet: 500 },
      );
      m.expectObservable(errs$.pipe(map(({ type }) => type[0] ?? '')), '^ 15s !').toBe(
        at({ '0s': 'r', '1s': 'cw', '11s': 'r' }),
      );
    }),
  );

  it(
    'reads at once for an order, whose reading counts even if it is the same, and lets no slow reading overtake a newer one',
    marbles((m) => {
      const changes$ = m.hot('2s x', signs);
      const orders$ = m.hot(at({ '1s': 'o', '13s': 'o' }));
      // The reading of the change takes 5 s from 12 s on.
      const times = [m.cold('(A|)'), m.cold('(A|)'), m.cold('5s (B|)'), m.cold('(C|)')];
      let next = 0;
      const hash$ = defer(() => times[next++] ?? NEVER);
      const read$ = sourceSigns(drawnSource({ changes$, hash$ }), { minDelay }, orders$).pipe(
        ofType('read'),
        map(
          ({ reading, isNew, orderedBy }) =>
            `${reading.hash}${isNew ? ' new' : ''}${orderedBy === undefined ? '' : ' ordered'}`,
        ),
      );
      m.expectObservable(read$, '^ 50s !').toBe(at({ '0s': 'a', '1s': 'b', '17s': 'cd' }), {
        ...{ a: 'A new', b: 'A ordered', c: 'B new', d: 'C new ordered' },
      });
    }),
  );

  it(
    'reads again if a reading errors, after 200, 400 and 800 ms, and says so',
    marbles((m) => {
      const times = [
        m.cold('#', undefined, new Error('EMFILE')),
        m.cold('#', undefined, new Error('EMFILE')),
        m.cold('10ms #', undefined, new Error('EMFILE')),
        m.cold('(A|)'),
      ];
      let next = 0;
      const hash$ = defer(() => times[next++] ?? NEVER);
      const signs$ = sourceSigns(drawnSource({ changes$: NEVER, hash$ }), {
        minDelay,
        random: () => 0.5,
      }).pipe(
        map((sign) =>
          sign.type === 'source-failed' ? `${String(sign.error)}, ${sign.delayMs} ms` : sign.type,
        ),
      );
      m.expectObservable(signs$, '^ 60s !').toBe(
        at({ '0s': 'a', '200ms': 'b', '610ms': 'c', '1410ms': 'r' }),
        {
          ...{
            a: 'Error: EMFILE, 200 ms',
            b: 'Error: EMFILE, 400 ms',
            c: 'Error: EMFILE, 800 ms',
            r: 'read',
          },
        },
      );
    }),
  );

  it(
    'alone error with the source',
    marbles((m) => {
      const failure = new Error('EMFILE');
      const times = [m.cold('(A|)'), m.cold('1s #', undefined, failure)];
      const changes$ = m.hot('2s x', signs);
      const hash$ = defer(() => times.shift() ?? NEVER);
      m.expectObservable(hashes(drawnSource({ changes$, hash$ }), { minDelay })).toBe(
        'A 12999ms #',
        undefined,
        failure,
      );
    }),
  );

  it(
    'reads at once when the source becomes ready',
    marbles((m) => {
      const changes$ = m.hot(' --r', signs);
      const unsub = '          ^ 20s !';
      const expected = '       A-B';
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('AB') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'reads every minute even if no change was heard',
    marbles((m) => {
      const changes$ = m.hot('-', signs);
      const unsub = '^ 150s !';
      // after a minute, and 10 s of the window
      const expected = at({ '0s': 'A', '70s': 'B', '130s': 'C' });
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('ABC') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'is silent while the reading stays the same',
    marbles((m) => {
      const changes$ = m.hot(' r 20s x 20s x 20s x -', signs);
      const unsub = '          ^ 85s !';
      const expected = '       A 30s B'; // six readings: two at 0, and at 30, 50, 60 and 70 s
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('AAB') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'reads nothing when watching fails',
    marbles((m) => {
      const changes$ = m.hot(' -f', signs);
      const unsub = '          ^ 30s !';
      const expected = '       A';
      m.expectObservable(
        hashes(drawnSource({ changes$, hash$: readings('AB') }), { minDelay }),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'reads one at a time, in order, and subscribes to the changes once, after the first reading',
    marbles((m) => {
      const changes$ = m.hot('2s -r-r', signs);
      const hash$ = m.cold('2s (A|)');
      const unsub = '^ 9s !';
      const reads = [
        at({ '0s': '^', '2s': '!' }),
        at({ '2.001s': '^', '4.001s': '!' }),
        at({ '4.001s': '^', '6.001s': '!' }),
      ];
      const expected = '2s A';
      m.expectObservable(hashes(drawnSource({ changes$, hash$ }), { minDelay }), unsub).toBe(
        expected,
      );
      m.expectSubscriptions(changes$.subscriptions).toBe('2s ^ 7s !');
      m.expectSubscriptions(hash$.subscriptions).toBe(reads);
    }),
  );

  it(
    'keeps reading when the source of changes has ended',
    marbles((m) => {
      const expected = at({ '0s': 'AB', '70s': 'C' }); // the periodic readings go on
      m.expectObservable(
        hashes(drawnSource({ changes$: of({ type: 'ready' }), hash$: readings('ABC') }), {
          minDelay,
        }),
        '^ 90s !',
      ).toBe(expected);
    }),
  );
});
