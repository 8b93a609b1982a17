import { asyncScheduler, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { inSlices } from '../../src/operators/in-slices.ts';
import { marbles } from '../support/marbles/marbles.ts';

/** Returns work of three steps, each of which moves the clock on by `ms`. */
function slowWork(ms: number) {
  let worked = 0;
  const turns: number[] = [];
  const scheduler: SchedulerLike = {
    now: () => asyncScheduler.now() + worked,
    schedule<T>(act: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T) {
      return asyncScheduler.schedule<T>(
        function (next) {
          turns.push(worked);
          act.call(this, next);
        },
        delay,
        state,
      );
    },
  };
  function* work() {
    for (let step = 0; step < 3; step += 1) {
      worked += ms;
      yield;
    }
    return 'r';
  }
  return { turns, scheduler, work };
}

describe('inSlices', () => {
  it(
    'does as many steps in a row as fit in, and emits the result',
    marbles((m) => {
      const { turns, scheduler, work } = slowWork(5);
      m.expectObservable(inSlices(work, 8, scheduler)).toBe('(r|)');
      m.flush();
      expect(turns).toEqual([0, 10]);
    }),
  );

  it(
    'lets others have their turn after each step that takes longer',
    marbles((m) => {
      const { turns, scheduler, work } = slowWork(20);
      m.expectObservable(inSlices(work, 8, scheduler)).toBe('(r|)');
      m.flush();
      expect(turns).toEqual([0, 20, 40, 60]);
    }),
  );

  it(
    'errors with what the work throws',
    marbles((m) => {
      const bad = function* (): Generator<unknown, string, undefined> {
        yield 1;
        throw 'bad'; // eslint-disable-line @typescript-eslint/only-throw-error -- diagrams throw text
      };
      m.expectObservable(inSlices(bad, 8)).toBe('#', undefined, 'bad');
    }),
  );

  it(
    'leaves undone what nobody waits for any more',
    marbles((m) => {
      let steps = 0;
      const endless = function* (): Generator<unknown, string, undefined> {
        for (;;) yield (steps += 1);
      };
      m.expectObservable(inSlices(endless, 0), '!').toBe('');
      m.flush();
      expect(steps).toBeLessThan(3);
    }),
  );
});
