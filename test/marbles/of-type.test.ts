import { map, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { ofType } from '../../src/operators/tagged-union.ts';
import { marbles } from '../support/marbles/marbles.ts';

type Fruit = { readonly type: 'apple'; readonly seeds: number } | { readonly type: 'banana' };

const values: Record<string, Fruit> = {
  a: { type: 'apple', seeds: 5 },
  A: { type: 'apple', seeds: 8 },
  b: { type: 'banana' },
};
function apples(source: Observable<Fruit>): Observable<Fruit> {
  return source.pipe(ofType('apple'));
}

describe('ofType', () => {
  it.each([
    { what: 'is silent with a silent source', diagram: '    -', expected: '-', subs: '^' },
    { what: 'completes with an empty source', diagram: '    ---|', expected: '---|', subs: '^--!' },
    {
      what: 'lets a single value of its type through',
      diagram: '-a-|',
      expected: '-a-|',
      subs: '^--!',
    },
    {
      what: 'lets many values of its type through and no others',
      diagram: 'ab-A-ba-|',
      expected: 'a--A--a-|',
      subs: '^-------!',
    },
    { what: 'passes an error on', diagram: '-b-a-#', expected: '---a-#', subs: '^----!' },
    {
      what: 'goes on with a source that never ends',
      diagram: '-a-b-A-',
      expected: '-a---A-',
      subs: '^',
    },
  ])('$what', ({ diagram, expected, subs }) =>
    marbles((m) => {
      const source = m.cold(diagram, values);
      m.expectObservable(apples(source)).toBe(expected, values);
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    })(),
  );

  it(
    'lets go of its source when it is disposed of early',
    marbles((m) => {
      const source = m.cold('  -a-a-a', values);
      const unsub = '          ^---!';
      const expected = '       -a-a-';
      m.expectObservable(apples(source), unsub).toBe(expected, values);
      m.expectSubscriptions(source.subscriptions).toBe(unsub);
    }),
  );

  it(
    'narrows the type',
    marbles((m) => {
      const source = m.cold('  -a-b-A|', values);
      const expected = '       -5---8|';
      const seeds$ = source.pipe(
        ofType('apple'),
        map(({ seeds }) => seeds),
      );
      m.expectObservable(seeds$).toBe(expected, { 5: 5, 8: 8 });
    }),
  );
});
