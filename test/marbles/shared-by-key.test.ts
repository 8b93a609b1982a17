import { asyncScheduler, defer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { sharedByKey } from '../../src/operators/shared-by-key.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('sharedByKey', () => {
  it(
    'subscribes once for a key, until 5 ms after the last subscriber has left',
    marbles((m) => {
      const source$ = m.cold('a-b--------c');
      const shared$ = sharedByKey<string>(5, asyncScheduler);
      m.expectObservable(
        shared$('x', () => source$),
        '^--!',
      ).toBe('a-b');
      m.expectObservable(
        shared$('x', () => source$),
        '----^--!',
      ).toBe('----b');
      m.expectSubscriptions(source$.subscriptions).toBe('^-----------!');
    }),
  );

  it(
    'makes another observable for another key, and for a key that is forgotten',
    marbles((m) => {
      let creations = 0;
      const shared$ = sharedByKey<string>(5, asyncScheduler);
      const take$ = (key: string) =>
        defer(() =>
          shared$(key, () => {
            creations += 1;
            return m.cold('a');
          }),
        );
      m.expectObservable(take$('x'), '^-!').toBe('a');
      m.expectObservable(take$('y'), '^-!').toBe('a');
      m.expectObservable(take$('x'), '---^-!').toBe('---a');
      m.expectObservable(take$('x'), '------------------^-!').toBe('------------------a');
      m.flush();
      expect(creations).toBe(3);
    }),
  );
});
