import { lastValueFrom, merge, of, Subject, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { turnstile } from '../../src/operators/turnstile.ts';
import { marbles } from '../support/marbles/marbles.ts';

const bounds = { running: 2, waiting: 1 };

describe('turnstile', () => {
  it(
    'lets two run, one wait, and replaces the fourth',
    marbles((m) => {
      const through$ = turnstile(bounds, of('full'));
      const [a$, b$, c$, d$] = [m.cold('--a|'), m.cold('----b|'), m.cold('--c|'), m.cold('--d|')];
      m.expectObservable(a$.pipe(through$)).toBe('--a|');
      m.expectObservable(b$.pipe(through$)).toBe('----b|');
      m.expectObservable(c$.pipe(through$)).toBe('-----c|');
      m.expectObservable(d$.pipe(through$)).toBe('(f|)', { f: 'full' });
      m.expectSubscriptions(c$.subscriptions).toBe('---^--!');
      m.expectSubscriptions(d$.subscriptions).toBe([]);
    }),
  );

  it(
    'gives the place of one that is left to the next, and forgets one that leaves the queue',
    marbles((m) => {
      const through$ = turnstile({ running: 1, waiting: 2 }, of('full'));
      const [a$, b$, c$] = [m.cold('-'), m.cold('-'), m.cold('--c|')];
      m.expectObservable(a$.pipe(through$), '^---!').toBe('-');
      m.expectObservable(b$.pipe(through$), '^-!').toBe('-');
      m.expectObservable(c$.pipe(through$)).toBe('------c|');
      m.expectSubscriptions(b$.subscriptions).toBe([]);
    }),
  );

  it(
    'lets the next run after an error',
    marbles((m) => {
      const through$ = turnstile({ running: 1, waiting: 1 }, of('full'));
      m.expectObservable(m.cold('--#').pipe(through$)).toBe('--#');
      m.expectObservable(m.cold('-b|').pipe(through$)).toBe('---b|');
    }),
  );

  it('does not recurse through$ 10,000 that complete at once', async () => {
    const through$ = turnstile({ running: 1, waiting: 10_000 }, of(-1));
    const numbers = Array.from({ length: 10_000 }, (_, number) => number);
    const first$ = new Subject<number>();
    const all$ = merge(
      first$.pipe(through$),
      ...numbers.map((number) => of(number).pipe(through$)),
    );
    const results = lastValueFrom(all$.pipe(toArray()), { defaultValue: [] });
    first$.complete();
    expect(await results).toEqual(numbers);
  });
});
