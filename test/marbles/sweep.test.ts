import { asyncScheduler, Subject } from 'rxjs';
import { describe, it } from 'vitest';
import { sweepUp } from '../../src/operators/sweep.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('sweepUp', () => {
  it(
    'sweeps from the first that comes until nothing is left, and again once something comes',
    marbles((m) => {
      const come$ = m.hot('-a-b-----------------c---------');
      const unsub = '      ------------------------------!';
      const swept = '      ------x----y----z---------z----';
      const swept$ = new Subject<number>();
      const left = [2, 1, 0, 0];
      const sweep = () => {
        const now = left.shift() ?? 0;
        swept$.next(now);
        return now;
      };
      m.expectObservable(swept$).toBe(swept, { x: 2, y: 1, z: 0 });
      m.expectObservable(sweepUp(come$, 5, sweep, asyncScheduler), unsub).toBe('-');
    }),
  );

  it(
    'ends with what comes, and sweeps no more after unsubscribing',
    marbles((m) => {
      const come$ = m.hot('-a-');
      const subs = '       ^-------!';
      const swept = '      ------x--';
      const swept$ = new Subject<string>();
      const sweep = () => {
        swept$.next('x');
        return 1;
      };
      m.expectObservable(swept$).toBe(swept);
      m.expectObservable(sweepUp(come$, 5, sweep, asyncScheduler), subs).toBe('-');
      m.expectSubscriptions(come$.subscriptions).toBe(subs);
    }),
  );
});
