import { asyncScheduler, defer, NEVER, of } from 'rxjs';
import { describe, it } from 'vitest';
import type { AgentEvent, AwaitedParent } from '../../src/epochs/model.ts';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { turn } from '../../src/epochs/turn.ts';
import { exits } from '../../src/testing/fake-script.ts';
import { marbles } from '../support/marbles/marbles.ts';

const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 5_000 };

/**
 * The events. `L`: epoch 1 is LIVE; `X`: epoch 1 has exited; `y`, `z`: epochs 0 and 2 have exited;
 * `A`: epoch 1 answers; `l`: epoch 0 is LIVE.
 */
const events: Record<string, AgentEvent> = {
  L: { type: 'epoch-live', epoch: 1 },
  X: { type: 'epoch-exited', epoch: 1, exit: exits.f },
  y: { type: 'epoch-exited', epoch: 0, exit: exits.c },
  z: { type: 'epoch-exited', epoch: 2, exit: exits.c },
  A: { type: 'epoch-answered', epoch: 1 },
  l: { type: 'epoch-live', epoch: 0 },
};
/** The grants of the turn of epoch 2: its parent is LIVE (`l`), gone (`g`) or stuck (`s`). */
const granted: Record<string, AgentEvent> = {
  l: { type: 'turn-granted', epoch: 2, parent: 'live' },
  g: { type: 'turn-granted', epoch: 2, parent: 'gone' },
  s: { type: 'turn-granted', epoch: 2, parent: 'stuck' },
};
const awaitTurn = (
  parent: AwaitedParent | undefined,
  older: readonly number[] = [],
  others: readonly number[] = [],
) => {
  return { type: 'await-turn', epoch: 2, parent, older, others } as const;
};
const starting: AwaitedParent = {
  epoch: 1,
  awaits: 'epoch-live',
  lostChild: false,
  replaceable: false,
};
const unresponsive: AwaitedParent = {
  epoch: 1,
  awaits: 'epoch-answered',
  lostChild: false,
  replaceable: false,
};
const draining: AwaitedParent = {
  epoch: 1,
  awaits: undefined,
  lostChild: false,
  replaceable: false,
};
const live: AwaitedParent = { epoch: 1, awaits: 'answer', lostChild: false, replaceable: false };
/** A proxy that never answers. The turn asks only a parent that is LIVE. */
const silent = { health: () => NEVER };

describe('turn', () => {
  it(
    'is granted at once without a parent',
    marbles((m) => {
      const events$ = m.hot('  -', events);
      const expected = '       (g|)';
      m.expectObservable(turn(awaitTurn(undefined), silent, events$, timing)).toBe(
        expected,
        granted,
      );
      m.expectSubscriptions(events$.subscriptions).toBe([]);
    }),
  );

  it(
    'is granted at once beside a parent that drains',
    marbles((m) => {
      const events$ = m.hot('  -', events);
      const expected = '       (l|)';
      m.expectObservable(turn(awaitTurn(draining), silent, events$, timing)).toBe(
        expected,
        granted,
      );
      m.expectSubscriptions(events$.subscriptions).toBe([]);
    }),
  );

  it.each([
    ['live', 0, '(l|)'],
    ['unknown', 0, '(l|)'],
    ['live', 1_400, '1500ms (l|)'],
    ['live', 60_000, '20s (s|)'],
  ] as const)(
    'asks a parent that is LIVE every 500 ms, which must answer: %s after %i ms',
    (health, after, expected) =>
      marbles((m) => {
        const parent = {
          health: () =>
            defer(() => of(asyncScheduler.now() < after ? ('unresponsive' as const) : health)),
        };
        m.expectObservable(turn(awaitTurn(live), parent, m.hot('-', events), timing)).toBe(
          expected,
          granted,
        );
      })(),
  );

  it(
    'waits until a parent that was unresponsive answers again',
    marbles((m) => {
      const events$ = m.hot('  -lyL-A', events);
      const expected = '       -----(l|)';
      m.expectObservable(turn(awaitTurn(unresponsive), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'waits until the parent is LIVE, whatever happens to others',
    marbles((m) => {
      const events$ = m.hot('  -lyz-L', events);
      const subs = '           ^----!';
      const expected = '       -----(l|)';
      m.expectObservable(turn(awaitTurn(starting), silent, events$, timing)).toBe(
        expected,
        granted,
      );
      m.expectSubscriptions(events$.subscriptions).toBe([subs, subs]);
    }),
  );

  it(
    'waits no longer than the parent lives',
    marbles((m) => {
      const events$ = m.hot('  ---X', events);
      const expected = '       ---(g|)';
      m.expectObservable(turn(awaitTurn(starting), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'gives up waiting after 20 s',
    marbles((m) => {
      const events$ = m.hot('  -', events);
      //                       [ 20s ]
      const expected = '       20s (s|)';
      const subs = '           ^ 19999ms !';
      m.expectObservable(turn(awaitTurn(starting), silent, events$, timing)).toBe(
        expected,
        granted,
      );
      m.expectSubscriptions(events$.subscriptions).toBe([subs, subs]);
    }),
  );

  it(
    'does not take an answer for LIVE while the parent has never been LIVE',
    marbles((m) => {
      const events$ = m.hot('  --A 4s L', events);
      const expected = '       --- 4s (l|)';
      m.expectObservable(turn(awaitTurn(starting), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'waits until those older than the parent are gone, all of them',
    marbles((m) => {
      const events$ = m.hot('  --y 5s z', events);
      const expected = '       --- 5s (l|)';
      m.expectObservable(turn(awaitTurn(draining, [0, 2]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'waits for those older than the parent for the parent shutdown time at most',
    marbles((m) => {
      const events$ = m.hot('  --y', events);
      //                       [ 60s ]
      const expected = '       60s (l|)';
      m.expectObservable(turn(awaitTurn(draining, [0, 2]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'counts that time from when a parent that comes up is LIVE, for that is when Envoy begins to count',
    marbles((m) => {
      const events$ = m.hot('  15s L', events);
      //                           [ 60s ]
      const expected = '       75s (l|)';
      m.expectObservable(turn(awaitTurn(starting, [0]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'does not wait for those older than a parent that has had its 20 s: they do not drain',
    marbles((m) => {
      const events$ = m.hot('  -', events);
      const expected = '       20s (s|)';
      m.expectObservable(turn(awaitTurn(starting, [0]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'needs both: a parent that is LIVE, and nobody older',
    marbles((m) => {
      const events$ = m.hot('  ---y 5s L', events);
      const expected = '       ---- 5s (l|)';
      m.expectObservable(turn(awaitTurn(starting, [0]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );

  it(
    'lets go of everything when it is withdrawn',
    marbles((m) => {
      const events$ = m.hot('  ------L', events);
      const unsub = '          ^---!';
      const expected = '       -----';
      m.expectObservable(turn(awaitTurn(starting, [0]), silent, events$, timing), unsub).toBe(
        expected,
        granted,
      );
      m.expectSubscriptions(events$.subscriptions).toBe([unsub, unsub, unsub]);
    }),
  );

  it(
    'waits for another line as long as it takes: it has the admin endpoint',
    marbles((m) => {
      const events$ = m.hot('  90s y', events);
      const expected = '       90s (l|)';
      m.expectObservable(turn(awaitTurn(draining, [], [0]), silent, events$, timing)).toBe(
        expected,
        granted,
      );
    }),
  );
});
