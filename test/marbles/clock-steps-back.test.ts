import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { describe, it } from 'vitest';
import { clockStepsBack } from '../../src/operators/clock-steps-back.ts';
import { marbles } from '../support/marbles/marbles.ts';

/** Returns a machine whose clock is set by `by` ms once `time` ms have passed. */
function setAt(time: number, by: number): SchedulerLike {
  const now = () => asyncScheduler.now() + (asyncScheduler.now() > time ? by : 0);
  return { now, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
}

describe('clockStepsBack', () => {
  it(
    'emits within a minute after a step behind the beginning, and not after another step',
    marbles((m) => {
      const step$ = (by: number) => clockStepsBack(setAt(90_000, by));
      m.expectObservable(step$(-600_000), '^ 60m !').toBe('120s (0|)', { 0: 0 });
      m.expectObservable(step$(600_000), '^ 60m !').toBe('-');
      m.expectObservable(step$(-60_000), '^ 60m !').toBe('-');
    }),
  );
});
