import { setTimeout } from 'node:timers/promises';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { clockTimer } from '../../src/operators/clock-timer.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const minute = 60_000;

/**
 * Returns a machine that is suspended at `time`: its clock goes on by `by` ms, its timers do not.
 */
function suspended(time: number, by: number): SchedulerLike {
  const now = () => asyncScheduler.now() + (asyncScheduler.now() > time ? by : 0);
  return { now, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
}

describe('clockTimer', () => {
  it.each([
    ['30s', 30_000],
    ['12m', 12 * minute],
    ['1440m', 1_440 * minute],
  ] as const)('emits after its delay of %s', (time, delay) =>
    marbles((m) => m.expectObservable(clockTimer(delay)).toBe(at({ [time]: '0|' }), { 0: 0 }))(),
  );

  it(
    'emits within a minute after a suspension in which its time was over, and not before it is',
    marbles((m) => {
      // The machine is suspended for twenty minutes after 5.5 minutes.
      m.expectObservable(clockTimer(25 * minute, suspended(5.5 * minute, 20 * minute))).toBe(
        '360s (0|)',
        { 0: 0 },
      );
      m.expectObservable(clockTimer(28 * minute, suspended(5.5 * minute, 20 * minute))).toBe(
        '480s (0|)',
        { 0: 0 },
      );
    }),
  );

  it(
    'does not wait longer if the clock is set back',
    marbles((m) => {
      m.expectObservable(clockTimer(10 * minute, suspended(5.5 * minute, -60 * minute))).toBe(
        '600s (0|)',
        { 0: 0 },
      );
    }),
  );

  it('does not end at once if its delay is longer than a timer of Node can wait', async () => {
    let ends = 0;
    const waiting = clockTimer(2 ** 31).subscribe({
      next: () => (ends += 1),
      error: (error: unknown) => {
        throw error as Error;
      },
    });
    await setTimeout(20); // a timer that is too long ends after 1 ms
    waiting.unsubscribe();
    expect(ends).toBe(0);
  });

  it(
    'lets go of its timers',
    marbles((m) => {
      m.expectObservable(clockTimer(10 * minute), '^ 100s !').toBe('-');
    }),
  );
});
