import { map, NEVER } from 'rxjs';
import { describe, it } from 'vitest';
import { composeSources, type SourceChange } from '../../src/streams/config-source.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { drawnSource, hashes, readings } from '../support/marbles/readings.ts';

const signs: Record<string, SourceChange> = { r: { type: 'ready' }, x: { type: 'changed' } };

describe('composeSources', () => {
  it(
    'merges the changes',
    marbles((m) => {
      const certs$ = m.hot(' -r--x--', signs);
      const labels$ = m.hot('--r--x-', signs);
      const expected = '     -rr-xx-';
      const { changes$ } = composeSources(
        drawnSource({ changes$: certs$, hash$: NEVER }),
        drawnSource({ changes$: labels$, hash$: NEVER }),
      );
      m.expectObservable(changes$).toBe(expected, signs);
    }),
  );

  it(
    'reads every source once when one changes',
    marbles((m) => {
      const certs$ = m.hot(' -x', signs);
      const labels$ = m.hot('-', signs);
      const cert$ = m.cold(' (a|)');
      const label$ = m.cold('(b|)');
      const unsub = '        ^ 30s !';
      //                      [ 10s ]
      const reads = ['       (^!)', '- 10s (^!)'];
      const expected = '     h';
      const source = composeSources(
        drawnSource({ changes$: certs$, hash$: cert$ }),
        drawnSource({ changes$: labels$, hash$: label$ }),
      );
      m.expectObservable(hashes(source, { minDelay: 10_000 }), unsub).toBe(expected, { h: 'a+b' });
      m.expectSubscriptions(cert$.subscriptions).toBe(reads);
      m.expectSubscriptions(label$.subscriptions).toBe(reads);
    }),
  );

  it(
    'has one reading that differs when any part does',
    marbles((m) => {
      const certs$ = m.hot(' -x 15s x', signs);
      const unsub = '        ^ 40s !';
      //                      [ 10s ] [ 10s ]
      const expected = '     k 10s l 15s m';
      const source = composeSources(
        drawnSource({ changes$: certs$, hash$: readings('aab') }),
        drawnSource({ changes$: NEVER, hash$: readings('xyy') }),
      );
      m.expectObservable(hashes(source, { minDelay: 10_000 }), unsub).toBe(expected, {
        k: 'a+x',
        l: 'a+y',
        m: 'b+y',
      });
    }),
  );

  it(
    'starts the first epoch even without a source',
    marbles((m) => {
      m.expectObservable(composeSources().reading$.pipe(map(({ hash }) => hash))).toBe('(e|)', {
        e: '',
      });
      m.expectObservable(hashes(composeSources(), { minDelay: 10_000 }), '^ 90s !').toBe('e', {
        e: '',
      });
    }),
  );
});
