import { catchError, delay, map, type Observable, of, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { follow } from '../../src/epochs/follow.ts';
import type { AgentEvent } from '../../src/epochs/model.ts';
import type { Health } from '../../src/epochs/ports.ts';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { attentiveTimeout, attentiveTimer } from '../../src/operators/attentive-timer.ts';
import { at } from '../../src/testing/at.ts';
import { lateScheduler } from '../support/marbles/late-scheduler.ts';
import { marbles } from '../support/marbles/marbles.ts';

describe('attentiveTimer', () => {
  it(
    'emits after its delay if the loop is never late',
    marbles((m) => {
      m.expectObservable(attentiveTimer(2_000)).toBe('2s (0|)', { 0: 0 });
      m.expectObservable(attentiveTimer(28_000)).toBe('28s (0|)', { 0: 0 });
    }),
  );

  it(
    'counts a time in which the loop was late as one step, however long it was',
    marbles((m) => {
      // steps at 0.5 s, at 1 s, at the end of the stall, and 0.5 s after that
      const stall = '1200ms ^ 9999ms !';
      m.expectObservable(attentiveTimer(2_000, lateScheduler(stall))).toBe('11700ms (0|)', {
        0: 0,
      });
      const hour = '1200ms ^ 3599999ms !';
      m.expectObservable(attentiveTimer(2_000, lateScheduler(hour))).toBe('3601700ms (0|)', {
        0: 0,
      });
    }),
  );

  it(
    'emits all the same if the loop is late again and again',
    marbles((m) => {
      const stalls = [
        '  100ms ^ 1899ms !',
        ' 2100ms ^ 1899ms !',
        ' 4100ms ^ 1899ms !',
        ' 6100ms ^ 1899ms !',
      ];
      const expected = ' 8s (0|)';
      m.expectObservable(attentiveTimer(2_000, lateScheduler(...stalls))).toBe(expected, { 0: 0 });
    }),
  );
});

describe('attentiveTimeout', () => {
  it(
    'errors after its time, and not before a value that came while the loop was late is read',
    marbles((m) => {
      const never$ = m.cold('   -');
      const answer$ = m.cold('  5001ms a 1s b|'); // timers that are due run before an answer that has arrived is read
      const late = lateScheduler('10ms ^ 4990ms !');
      const timeout = expect.objectContaining({ message: 'nothing within 1 s' }) as unknown;
      m.expectObservable(never$.pipe(attentiveTimeout(1_000))).toBe('1s #', undefined, timeout);
      m.expectObservable(answer$.pipe(attentiveTimeout(1_000, late))).toBe('5001ms a 1s b|');
    }),
  );
});

const signs: Record<string, AgentEvent> = {
  A: { type: 'epoch-answered', epoch: 3 },
  L: { type: 'epoch-live', epoch: 3 },
  S: { type: 'epoch-unresponsive', epoch: 3 },
  H: { type: 'epoch-hung', epoch: 3 },
};
const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 5_000 };
const unsub = '^ 5m !';

/**
 * Follows an Envoy over HTTP, with an agent whose loop is late. The Envoy answers at once until the
 * time `falls`.
 */
function followLate(stalls: readonly string[], falls = Infinity) {
  const late = lateScheduler(...stalls);
  function health(): Observable<Health> {
    // The answer arrives after 1 ms, and is read after all timers that are due.
    return timer(1, late).pipe(
      delay(1),
      map((): Health => {
        if (late.now() >= falls) throw new Error('no answer');
        return 'live';
      }),
      catchError(() => timer(Infinity).pipe(map((): Health => 'up'))),
      attentiveTimeout(1_000, late),
      catchError(() => of<Health>('unresponsive')),
    );
  }
  return follow({ epoch: 3, isChild: false }, { health }, timing, late);
}

describe('a healthy Envoy of an agent', () => {
  it(
    'that is stopped for minutes is not silent',
    marbles((m) => {
      const stopped = ['10500ms ^ 2m !', '130600ms ^ 2m !'];
      m.expectObservable(followLate(stopped), unsub).toBe('2ms (LA)', signs);
    }),
  );

  it(
    'whose loop is late for 1.8 s of each 2 s is not silent',
    marbles((m) => {
      const busy = Array.from({ length: 140 }, (_, index) => `${2_000 * index + 200}ms ^ 1799ms !`);
      m.expectObservable(followLate(busy), unsub).toBe('2ms (LA)', signs);
    }),
  );

  it(
    'whose loop is late is found hung when it hangs: later by what the loop was late',
    marbles((m) => {
      const stalls = ['20s ^ 9999ms !'];
      // last answer at 10 s; from 17 s on 5 steps until the stall, one in it, and 40 after it
      m.expectObservable(followLate(stalls, 10_500), unsub).toBe(
        at({ '0.002s': 'LA', '17.004s': 'S', '50s': 'H' }),
        signs,
      );
    }),
  );
});
