import { asyncScheduler, defer, map, of } from 'rxjs';
import { describe, it } from 'vitest';
import { drained } from '../../src/epochs/drained.ts';
import type { AgentEvent } from '../../src/epochs/model.ts';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { exits } from '../../src/testing/fake-script.ts';
import { marbles } from '../support/marbles/marbles.ts';

const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 20_000 };
const ends: Record<string, AgentEvent> = {
  x: { type: 'epoch-exited', epoch: 0, exit: exits.c },
  y: { type: 'epoch-exited', epoch: 1, exit: exits.c },
  z: { type: 'epoch-exited', epoch: 2, exit: exits.c },
};
/** The events `drained`: a digit is the number of requests in flight, `?` an unknown number. */
const results: Record<string, AgentEvent> = {
  '0': { type: 'drained', active: 0 },
  '3': { type: 'drained', active: 3 },
  '?': { type: 'drained', active: undefined },
};

/** Returns a proxy with these numbers of requests in flight, each from the time beside it. */
const counting = (...counts: readonly (readonly [time: number, active: number | undefined])[]) => ({
  active: () => defer(() => of(counts.findLast(([time]) => time <= asyncScheduler.now())?.[1])),
});

describe('drained', () => {
  it(
    'asks at once and then every 500 ms, one question at a time, and no more when it has emitted',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const count$ = m.cold('  800ms (3|)');
      const questions = ['         ^ 799ms !', '1s ^ 799ms !', '2s ^ 199ms !'];
      const expected = '       2200ms (3|)';
      m.expectObservable(
        drained(
          { epochs: [9], parents: [] },
          { active: () => count$.pipe(map((count) => Number(count))) },
          events$,
          {
            ...timing,
            drainCap: 2_200,
          },
        ),
      ).toBe(expected, results);
      m.expectSubscriptions(count$.subscriptions).toBe(questions);
    }),
  );

  it(
    'waits for the minimum even if nothing is in flight',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      //                       [ 5s ]
      const expected = '       5s (0|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, counting([0, 0]), events$, timing),
      ).toBe(expected, results);
      m.expectSubscriptions(events$.subscriptions).toBe('^ 4999ms !');
    }),
  );

  it(
    'waits until nothing is in flight',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const expected = '       8s (0|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, counting([0, 3], [7_600, 0]), events$, timing),
      ).toBe(expected, results);
    }),
  );

  it(
    'does not count as zero what is above zero again when the minimum is over',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const expected = '       9s (0|)';
      m.expectObservable(
        drained(
          { epochs: [9], parents: [] },
          counting([0, 0], [4_300, 1], [9_000, 0]),
          events$,
          timing,
        ),
      ).toBe(expected, results);
    }),
  );

  it(
    'gives up at the cap, with what is still in flight',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      //                       [ 20s ]
      const expected = '       20s (3|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, counting([0, 3]), events$, timing),
      ).toBe(expected, results);
    }),
  );

  it(
    'waits for the cap while the count is unknown',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const expected = '       20s (?|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, counting([0, undefined]), events$, timing),
      ).toBe(expected, results);
    }),
  );

  it(
    'gives up at the cap even without any answer',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const never$ = m.cold('  -').pipe(map(() => 0));
      const expected = '       20s (?|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, { active: () => never$ }, events$, timing),
      ).toBe(expected, results);
    }),
  );

  it(
    'lets the cap win over the minimum',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const expected = '       1200ms (0|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [] }, counting([0, 0]), events$, {
          ...timing,
          drainCap: 1_200,
        }),
      ).toBe(expected, results);
    }),
  );

  it(
    'wants zero for 6 s beside a parent',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      //                       [ 6s ]
      const expected = '       6s (0|)';
      m.expectObservable(
        drained({ epochs: [9], parents: [0] }, counting([0, 0]), events$, timing),
      ).toBe(expected, results);
    }),
  );

  it(
    'wants zero for 6 s anew after each request beside a parent',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      //                       [ 5s   ][ 6s  ]
      const expected = '       11500ms (0|)';
      m.expectObservable(
        drained(
          { epochs: [9], parents: [0] },
          counting([0, 0], [5_000, 1], [5_500, 0]),
          events$,
          timing,
        ),
      ).toBe(expected, results);
    }),
  );

  it(
    'believes zero as soon as the parents are gone, all of them',
    marbles((m) => {
      const events$ = m.hot('  z 2s x 3s y', ends);
      const expected = '       5002ms (0|)';
      m.expectObservable(
        drained(
          { epochs: [9], parents: [0, 1] },
          counting([0, 0], [500, 1], [1_000, 0]),
          events$,
          timing,
        ),
      ).toBe(expected, results);
    }),
  );

  it(
    'lets go of everything when it is disposed of early',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const count$ = m.cold('  -');
      const unsub = '          ^ 1s !';
      const expected = '       -';
      m.expectObservable(
        drained(
          { epochs: [9], parents: [0] },
          { active: () => count$.pipe(map(() => 0)) },
          events$,
          timing,
        ),
        unsub,
      ).toBe(expected, results);
      m.expectSubscriptions(events$.subscriptions).toBe([unsub, unsub]);
      m.expectSubscriptions(count$.subscriptions).toBe(unsub);
    }),
  );

  it(
    'counts what is in flight in each of two lines',
    marbles((m) => {
      const events$ = m.hot('  -', ends);
      const expected = '       9s (0|)';
      const proxy = {
        active: (epoch: number) => counting([0, 1], [epoch === 1 ? 7_000 : 9_000, 0]).active(),
      };
      m.expectObservable(drained({ epochs: [1, 2], parents: [] }, proxy, events$, timing)).toBe(
        expected,
        results,
      );
    }),
  );

  it(
    'asks no more after a line that has ended',
    marbles((m) => {
      const events$ = m.hot('  6100ms y', ends);
      const expected = '       6500ms (0|)';
      const proxy = { active: (epoch: number) => of(epoch === 1 ? undefined : 0) };
      m.expectObservable(drained({ epochs: [1, 2], parents: [] }, proxy, events$, timing)).toBe(
        expected,
        results,
      );
    }),
  );
});
