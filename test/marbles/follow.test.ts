import { asyncScheduler, defer, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { follow } from '../../src/epochs/follow.ts';
import type { AgentEvent } from '../../src/epochs/model.ts';
import type { Health } from '../../src/epochs/ports.ts';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 5_000 };
const signs: Record<string, Health> = { u: 'up', l: 'live', s: 'unresponsive', '?': 'unknown' };
const third = { epoch: 3, isChild: false };
const events: Record<string, AgentEvent> = {
  A: { type: 'epoch-answered', epoch: 3 },
  L: { type: 'epoch-live', epoch: 3 },
  S: { type: 'epoch-unresponsive', epoch: 3 },
  H: { type: 'epoch-hung', epoch: 3 },
  Z: { type: 'epoch-late', epoch: 3 },
};

/** Returns a proxy that answers with `before$` until a time, and then with `after$`. */
const turning = (before$: Observable<Health>, time: number, after$: Observable<Health>) => ({
  health: () => defer(() => (asyncScheduler.now() < time ? before$ : after$)),
});

describe('follow', () => {
  it(
    'asks every 20 ms in the first second, and then every 500 ms',
    marbles((m) => {
      const up$ = m.cold('     (u|)', signs);
      const unsub = '          ^ 1700ms !';
      const first = Array.from({ length: 50 }, (_, index) => `${index * 20}ms (^!)`);
      const questions = [...first, '1s (^!)', '1500ms (^!)'];
      const expected = '       A';
      m.expectObservable(follow(third, { health: () => up$ }, timing), unsub).toBe(
        expected,
        events,
      );
      m.expectSubscriptions(up$.subscriptions).toBe(questions);
    }),
  );

  it(
    'asks one question at a time',
    marbles((m) => {
      const slow$ = m.cold('800ms (u|)', signs);
      const unsub = '^ 2200ms !';
      const questions = [
        at({ '0s': '^', '800ms': '!' }),
        at({ '800ms': '^', '1.6s': '!' }),
        '2s ^ 200ms !',
      ];
      const expected = '800ms A';
      m.expectObservable(follow(third, { health: () => slow$ }, timing), unsub).toBe(
        expected,
        events,
      );
      m.expectSubscriptions(slow$.subscriptions).toBe(questions);
    }),
  );

  it(
    'says once that the epoch is LIVE, and asks on every 5 s',
    marbles((m) => {
      const up$ = m.cold('(u|)', signs);
      const live$ = m.cold('(l|)', signs);
      const unsub = '^ 11s !';
      const questions = ['700ms (^!)', '5700ms (^!)', '10700ms (^!)'];
      const expected = at({ '0s': 'A', '700ms': 'L' });
      m.expectObservable(follow(third, turning(up$, 681, live$), timing), unsub).toBe(
        expected,
        events,
      );
      m.expectSubscriptions(live$.subscriptions).toBe(questions);
    }),
  );

  it(
    'calls an epoch silent 2 s after the last answer, and hung after 30 s, once',
    marbles((m) => {
      const up$ = m.cold('(u|)', signs);
      const silent$ = m.cold('999ms (s|)', signs);
      const unsub = '^ 120s !';
      // last answer at 9.5 s
      const expected = at({ '0s': 'A', '11.5s': 'S', '39.5s': 'H' });
      m.expectObservable(follow(third, turning(up$, 10_000, silent$), timing), unsub).toBe(
        expected,
        events,
      );
    }),
  );

  it(
    'calls an epoch silent that has never answered, as if it had at the start',
    marbles((m) => {
      const silent$ = m.cold('(s|)', signs);
      const unsub = '^ 60s !';
      const expected = at({ '2s': 'S', '30s': 'H' });
      m.expectObservable(follow(third, { health: () => silent$ }, timing), unsub).toBe(
        expected,
        events,
      );
    }),
  );

  it(
    'calls a child hung after 10 s that was never LIVE, and later one as any other',
    marbles((m) => {
      const up$ = m.cold('(u|)', signs);
      const live$ = m.cold('(l|)', signs);
      const silent$ = m.cold('(s|)', signs);
      const child = { epoch: 3, isChild: true };
      m.expectObservable(follow(child, turning(up$, 81, silent$), timing), '^ 60s !').toBe(
        at({ '0s': 'A', '2.08s': 'S', '10.08s': 'H' }),
        events,
      );
      m.expectObservable(follow(child, turning(live$, 100, silent$), timing), '^ 60s !').toBe(
        ['(LA)', '6996ms S', '22999ms H'].join(' '),
        events,
      );
    }),
  );

  it(
    'asks every 500 ms once a LIVE epoch is silent: 2 s from the first question, hung 30 s after the last answer',
    marbles((m) => {
      const live$ = m.cold('(l|)', signs);
      const silent$ = m.cold('(s|)', signs);
      m.expectObservable(follow(third, turning(live$, 10_001, silent$), timing), '^ 60s !').toBe(
        ['(LA)', '16996ms S', '22999ms H'].join(' '), // answers at 0, 5 and 10 s
        events,
      );
    }),
  );

  it(
    'asks a LIVE epoch that answers again every 5 s',
    marbles((m) => {
      const [live$, silent$] = [m.cold('(l|)', signs), m.cold('(s|)', signs)];
      const questions = ['5s (^!)', '5500ms (^!)', '6s (^!)'];
      const answers = {
        health: () =>
          defer(() =>
            asyncScheduler.now() > 4_000 && asyncScheduler.now() < 6_400 ? silent$ : live$,
          ),
      };
      m.expectObservable(follow(third, answers, timing), '^ 12s !').toBe('(LA)', events);
      m.expectSubscriptions(silent$.subscriptions).toBe(questions);
      m.expectSubscriptions(live$.subscriptions).toBe(['(^!)', '6500ms (^!)', '11500ms (^!)']);
    }),
  );

  it(
    'says when the epoch answers again, and counts from there',
    marbles((m) => {
      const silent$ = m.cold('(s|)', signs);
      const live$ = m.cold('(l|)', signs);
      const unsub = '^ 29900ms !';
      const expected = at({ '2s': 'S', '29.5s': 'LA' });
      m.expectObservable(follow(third, turning(silent$, 29_400, live$), timing), unsub).toBe(
        expected,
        events,
      );
    }),
  );

  it(
    'says nothing of a silence below 2 s',
    marbles((m) => {
      const silent$ = m.cold(' (s|)', signs);
      const up$ = m.cold('     (u|)', signs);
      const unsub = '          ^ 30s !';
      const expected = at({ '1.5s': 'A', '20s': 'Z' }); // it answers, but is not LIVE
      m.expectObservable(follow(third, turning(silent$, 1_400, up$), timing), unsub).toBe(
        expected,
        events,
      );
    }),
  );

  it(
    'tells once that it answers after 20 s, and is not LIVE; nothing of one that is, or is silent',
    marbles((m) => {
      const [silent$, up$, live$] = [
        m.cold('(s|)', signs),
        m.cold('(u|)', signs),
        m.cold('(l|)', signs),
      ];
      const unsub = '          ^ 29s !';
      m.expectObservable(follow(third, { health: () => up$ }, timing), unsub).toBe(
        at({ '0s': 'A', '20s': 'Z' }),
        events,
      );
      m.expectObservable(follow(third, turning(up$, 19_900, live$), timing), unsub).toBe(
        at({ '0s': 'A', '20s': 'L' }),
        events,
      );
      m.expectObservable(follow(third, turning(silent$, 25_000, up$), timing), unsub).toBe(
        at({ '2s': 'S', '25s': 'ZA' }),
        events,
      );
    }),
  );

  it(
    'takes nobody to ask for no silence',
    marbles((m) => {
      const nobody$ = m.cold(' (?|)', signs);
      const unsub = '          ^ 60s !';
      const expected = '       A';
      m.expectObservable(follow(third, { health: () => nobody$ }, timing), unsub).toBe(
        expected,
        events,
      );
    }),
  );
});
