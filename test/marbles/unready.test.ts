import { asyncScheduler, concat, defer, NEVER, type Observable, of, ReplaySubject } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { AdminAnswer, AdminClient } from '../../src/proxy/admin-client.ts';
import type { Epoch, Stage } from '../../src/epochs/epoch.ts';
import { type AgentState, initialState } from '../../src/epochs/model.ts';
import type { Settled } from '../../src/operators/settle.ts';
import { readinessFilter, notReady } from '../../src/pilot-agent/status/probe/readiness.ts';
import { readingOf } from '../../src/testing/reading.ts';
import { clockSetAt } from '../support/marbles/clock-set-at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const stateWith = (...stages: readonly Stage[]): AgentState => ({
  ...initialState,
  epochs: new Map(
    stages.map((stage, number): [number, Epoch] => [
      number,
      { hash: 'a', restartEpoch: number, lineage: 0, parentTime: 'over', stage, answering: true },
    ]),
  ),
});
const starting = stateWith('starting');
const live = stateWith('live');
const handingOver = stateWith('live', 'starting');
const handedOver = stateWith('draining', 'live');
/** A state whose configuration requests clusters and listeners from the control plane. */
const dynamic: AgentState = {
  ...live,
  wanted: {
    ...readingOf('a'),
    config: {
      kind: 'generated',
      text: '{"cds_config":{},"lds_config":{}}',
      extension: '.json',
      override: '',
    },
  },
};
/**
 * A state in which the child was killed while it started: its parent serves, and cannot be asked.
 */
const mute: AgentState = {
  ...live,
  epochs: new Map([...live.epochs].map(([number, epoch]) => [number, { ...epoch, mute: true }])),
};
const draining: AgentState = { ...live, phase: 'draining' };
const silent: AgentState = {
  ...initialState,
  epochs: new Map([
    [
      0,
      {
        hash: 'a',
        restartEpoch: 0,
        lineage: 0,
        parentTime: 'over',
        stage: 'live',
        answering: false,
      },
    ],
  ]),
};

/** Returns a state as the proxy does: each subscription receives the newest one at once. */
function staying(state: AgentState): Observable<AgentState> {
  return concat(of(state), NEVER);
}
function since(
  ...states: readonly (readonly [time: number, state: AgentState])[]
): Observable<AgentState> {
  return defer(() =>
    staying(states.findLast(([time]) => time <= asyncScheduler.now())?.[1] ?? initialState),
  );
}

const answers: Record<string, Settled<AdminAnswer>> = {
  r: {
    ok: true,
    value: { status: 200, body: 'server.state: 0\nlistener_manager.workers_started: 1\n' },
  },
  i: {
    ok: true,
    value: { status: 200, body: 'server.state: 3\nlistener_manager.workers_started: 0\n' },
  },
  w: {
    ok: true,
    value: { status: 200, body: 'server.state: 0\nlistener_manager.workers_started: 0\n' },
  },
  e: { ok: true, value: { status: 200, body: '' } },
  b: { ok: true, value: { status: 503, body: 'x' } },
  x: { ok: false, error: new Error('ECONNREFUSED') },
};
/** The reasons that `notReady` emits; `r` means ready. */
const reasons: Record<string, string | undefined> = {
  r: undefined,
  x: 'Envoy does not answer',
  s: 'Envoy is starting',
  d: 'draining',
  i: 'server is not live, current state is: INITIALIZING',
  w: 'workers have not yet started',
  e: 'failed to get readiness stats',
  n: 'config not received from Pilot (is Pilot running?): cds updates: 0 successful, 0 rejected; lds updates: 0 successful, 0 rejected',
  b: 'failed to get readiness stats: 503',
};

/**
 * Returns an Envoy whose n-th answer is drawn by the n-th diagram, from its request on; the last
 * one repeats. `questions$` emits the requests.
 */
function fakeAdmin(m: RunHelpers, ...diagrams: readonly string[]) {
  const colds = diagrams.map((diagram) => m.cold(diagram, answers));
  const questions$ = new ReplaySubject<string>(Infinity);
  let count = 0;
  const admin: Pick<AdminClient, 'request'> = {
    request: (method, path) => {
      expect(`${method} ${path}`).toBe(`GET /stats?filter=${encodeURIComponent(readinessFilter)}`);
      return defer(() => {
        questions$.next('q');
        return colds[Math.min(count++, colds.length - 1)] ?? NEVER;
      });
    },
  };
  return {
    admin,
    questions$: questions$.asObservable(),
    subscriptions: colds.map(({ subscriptions }) => subscriptions),
  };
}

describe('unready', () => {
  it.each<{ what: string; state: AgentState; reason: string | undefined }>([
    {
      what: 'before the first epoch',
      state: initialState,
      reason: 'Envoy has not been started yet',
    },
    { what: 'while it drains', state: draining, reason: 'draining' },
    {
      what: 'while it ends',
      state: { ...live, phase: 'stopping', outcome: { kind: 'asked' } },
      reason: 'terminating',
    },
    { what: 'while Envoy is silent', state: silent, reason: 'Envoy does not answer' },
    {
      what: 'while Envoy is replaced',
      state: stateWith('stopping'),
      reason: 'Envoy is being replaced',
    },
    { what: 'while a child comes up: its parent serves', state: handingOver, reason: undefined },
    { what: 'after a child was killed: its parent serves', state: mute, reason: undefined },
  ])('says at once, without asking Envoy, $what: $reason', ({ state, reason }) => {
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '(r|)');
      m.expectObservable(notReady(staying(state), admin)).toBe('(a|)', { a: reason });
      m.expectObservable(questions$).toBe('');
    })();
  });

  it.each<{ what: string; state: AgentState; answer: string; expected: string }>([
    { what: 'is ready when Envoy is', state: live, answer: '(r|)', expected: '(r|)' },
    {
      what: 'is ready beside a parent that drains',
      state: handedOver,
      answer: '(r|)',
      expected: '(r|)',
    },
    {
      what: 'is ready as soon as the first Envoy is',
      state: starting,
      answer: '(r|)',
      expected: '(r|)',
    },
    { what: 'says that Envoy initializes', state: starting, answer: '(i|)', expected: '(i|)' },
    {
      what: 'says that the workers have not started',
      state: live,
      answer: '(w|)',
      expected: '(w|)',
    },
    {
      what: 'says that nothing has come if Envoy has no word of what it asks for',
      state: dynamic,
      answer: '(r|)',
      expected: '(n|)',
    },
    { what: 'says that Envoy has not told', state: live, answer: '(e|)', expected: '(e|)' },
    {
      what: 'says that Envoy answers with an error',
      state: live,
      answer: '(b|)',
      expected: '(b|)',
    },
    {
      what: 'does not wait for an Envoy that is still starting',
      state: starting,
      answer: '(x|)',
      expected: '(s|)',
    },
    { what: 'waits for the answer', state: live, answer: '300ms (r|)', expected: '300ms (r|)' },
  ])('$what', ({ state, answer, expected }) => {
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, answer);
      m.expectObservable(notReady(staying(state), admin)).toBe(expected, reasons);
      m.expectObservable(questions$).toBe('q');
    })();
  });

  it('gives Envoy as long to answer as it is told to', () => {
    const patiences: (number | undefined)[] = [];
    const admin: Pick<AdminClient, 'request'> = {
      request: (_method, _path, timeoutMs) => {
        patiences.push(timeoutMs);
        return NEVER;
      },
    };
    notReady(of(live), admin, 3_000).subscribe({ error: expect.unreachable }).unsubscribe();
    expect(patiences).toEqual([3_000]);
  });

  it(
    'is ready through a hand-over that refuses connections for 9 ms',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '(x|)', '(r|)');
      const questions = '    q 9ms q';
      const expected = ' 10ms (r|)';
      m.expectObservable(notReady(staying(handedOver), admin)).toBe(expected, reasons);
      m.expectObservable(questions$).toBe(questions);
    }),
  );

  it(
    'believes after 250 ms that Envoy does not answer',
    marbles((m) => {
      const { admin } = fakeAdmin(m, '(x|)');
      //                [ 250ms ]
      const expected = '250ms (x|)';
      m.expectObservable(notReady(staying(live), admin)).toBe(expected, reasons);
    }),
  );

  it(
    'does not ask again what took longer than 250 ms to say nothing',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '1s (x|)', '(r|)');
      const questions = '    q';
      const expected = ' 1s (x|)';
      m.expectObservable(notReady(staying(live), admin)).toBe(expected, reasons);
      m.expectObservable(questions$).toBe(questions);
    }),
  );

  it(
    'asks one question at a time',
    marbles((m) => {
      const { admin, subscriptions } = fakeAdmin(m, '100ms (x|)', '100ms (x|)', '100ms (x|)');
      const expected = ' 320ms (x|)';
      m.expectObservable(notReady(staying(live), admin)).toBe(expected, reasons);
      m.expectSubscriptions(subscriptions[0] ?? []).toBe('      ^ 99ms !');
      m.expectSubscriptions(subscriptions[1] ?? []).toBe('110ms ^ 99ms !');
      m.expectSubscriptions(subscriptions[2] ?? []).toBe('220ms ^ 99ms !');
    }),
  );

  it(
    'looks at the agent anew each time',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '(x|)');
      const questions = '    q 9ms q 9ms q';
      const expected = ' 30ms (d|)';
      m.expectObservable(notReady(since([0, live], [25, draining]), admin)).toBe(expected, reasons);
      m.expectObservable(questions$).toBe(questions);
    }),
  );

  it(
    'is ready, and a moment later is not, and is again: nothing is latched',
    marbles((m) => {
      const { admin } = fakeAdmin(m, '(r|)', '(w|)', '(r|)');
      const ready$ = notReady(staying(live), admin);
      m.expectObservable(ready$, '    ^').toBe('   (r|)', reasons);
      m.expectObservable(ready$, '1s  ^').toBe('1s (w|)', reasons);
      m.expectObservable(ready$, '2s  ^').toBe('2s (r|)', reasons);
    }),
  );

  it(
    'asks one question for all who probe at the same time',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '50ms (w|)', '50ms (r|)');
      const ready$ = notReady(staying(live), admin);
      m.expectObservable(ready$, '     ^').toBe('50ms (w|)', reasons);
      m.expectObservable(ready$, '10ms ^').toBe('50ms (w|)', reasons);
      m.expectObservable(ready$, '49ms ^').toBe('50ms (w|)', reasons);
      m.expectObservable(ready$, '51ms ^').toBe('101ms (r|)', reasons);
      m.expectObservable(questions$).toBe('          q 50ms q');
    }),
  );

  it(
    'believes for 100 ms, and no longer, that Envoy is ready',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '(r|)', '(w|)');
      const ready$ = notReady(staying(live), admin);
      m.expectObservable(ready$, '      ^').toBe('     (r|)', reasons);
      m.expectObservable(ready$, '50ms  ^').toBe('50ms (r|)', reasons);
      m.expectObservable(ready$, '99ms  ^').toBe('99ms (r|)', reasons);
      m.expectObservable(ready$, '100ms ^').toBe('100ms (w|)', reasons);
      m.expectObservable(ready$, '101ms ^').toBe('101ms (w|)', reasons);
      m.expectObservable(questions$).toBe('           q 99ms q q');
    }),
  );

  it(
    'does not believe of one epoch what another has said, nor of the agent what it was',
    marbles((m) => {
      const { admin } = fakeAdmin(m, '(r|)', '(w|)');
      const ready$ = notReady(since([0, live], [20, handedOver], [40, draining]), admin);
      m.expectObservable(ready$, '     ^').toBe('    (r|)', reasons);
      m.expectObservable(ready$, '20ms ^').toBe('20ms (w|)', reasons);
      m.expectObservable(ready$, '40ms ^').toBe('40ms (d|)', reasons);
    }),
  );

  it(
    'does not believe of one epoch a late answer of another',
    marbles((m) => {
      const { admin, questions$ } = fakeAdmin(m, '30ms (r|)', '20ms (w|)');
      const ready$ = notReady(since([0, live], [20, handedOver]), admin);
      m.expectObservable(ready$, '     ^').toBe('    30ms (r|)', reasons);
      m.expectObservable(ready$, '20ms ^').toBe('40ms (w|)', reasons);
      m.expectObservable(ready$, '35ms ^').toBe('40ms (w|)', reasons);
      m.expectObservable(questions$).toBe('       q 19ms q');
    }),
  );

  it(
    'asks again if the clock was set back',
    marbles((m) => {
      const { admin } = fakeAdmin(m, '(r|)', '(w|)');
      const ready$ = notReady(staying(live), admin, undefined, clockSetAt(50, -3_600_000));
      m.expectObservable(ready$, '      ^').toBe('     (r|)', reasons);
      m.expectObservable(ready$, '200ms ^').toBe('200ms (w|)', reasons);
    }),
  );

  it(
    'gives each question 250 ms of its own',
    marbles((m) => {
      const { admin } = fakeAdmin(m, '(x|)');
      const ready$ = notReady(staying(live), admin);
      m.expectObservable(ready$, '    ^').toBe('   250ms (x|)', reasons);
      m.expectObservable(ready$, '1s  ^').toBe('1s 250ms (x|)', reasons);
    }),
  );

  it(
    'drops its question when nobody wants to know any more',
    marbles((m) => {
      const { admin, subscriptions } = fakeAdmin(m, '1s (r|)');
      const unsub = '    ^ 99ms !';
      const expected = ' -';
      m.expectObservable(notReady(staying(live), admin), unsub).toBe(expected, reasons);
      m.expectSubscriptions(subscriptions[0] ?? []).toBe(unsub);
    }),
  );
});
