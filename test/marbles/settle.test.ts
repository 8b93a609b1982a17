import { mergeMap } from 'rxjs';
import { describe, it } from 'vitest';
import { settle } from '../../src/operators/settle.ts';
import { marbles } from '../support/marbles/marbles.ts';

const results = {
  a: { ok: true, value: 'a' },
  b: { ok: true, value: 'b' },
  e: { ok: false, error: 'error' },
};

describe('settle', () => {
  it.each([
    { what: 'is silent with a silent source', diagram: '   -', expected: '-', subs: '^' },
    { what: 'completes with an empty source', diagram: '   ---|', expected: '---|', subs: '^--!' },
    { what: 'wraps a single value', diagram: '             -a-|', expected: '-a-|', subs: '^--!' },
    { what: 'wraps many values', diagram: '                ab-|', expected: 'ab-|', subs: '^--!' },
    {
      what: 'turns an error into a last value',
      diagram: ' -a-#',
      expected: '-a-(e|)',
      subs: '^--!',
    },
    {
      what: 'goes on with a source that never ends',
      diagram: '-a-b-',
      expected: '-a-b-',
      subs: '^',
    },
  ])('$what', ({ diagram, expected, subs }) =>
    marbles((m) => {
      const source = m.cold(diagram);
      m.expectObservable(source.pipe(settle())).toBe(expected, results);
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    })(),
  );

  it(
    'lets go of its source when it is disposed of early',
    marbles((m) => {
      const source = m.cold('  -a-b-#');
      const unsub = '          ^---!';
      const expected = '       -a-b-';
      m.expectObservable(source.pipe(settle()), unsub).toBe(expected, results);
      m.expectSubscriptions(source.subscriptions).toBe(unsub);
    }),
  );

  it(
    'keeps a failing inner stream from ending the outer one',
    marbles((m) => {
      const outer$ = m.hot('   -x----x---');
      const inner$ = m.cold('   -a#');
      const expected = '       --ae---ae-';
      m.expectObservable(outer$.pipe(mergeMap(() => inner$.pipe(settle())))).toBe(
        expected,
        results,
      );
      m.expectSubscriptions(outer$.subscriptions).toBe('^');
    }),
  );
});
