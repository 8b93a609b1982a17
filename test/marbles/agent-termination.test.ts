import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a request to terminate', () => {
  it(
    'asks Envoy to drain at once and ends it when nothing is in flight, but not before the minimum of 5 s',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const life0 = at({ '0s': '^', '15s': '!' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], active: ['0'] });
      play(m, agent, {
        // 5 s of draining
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'A|' }),
        drained: [at({ '10s': 'g', '15s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: at({ '15s': 'T' }),
        lives: { 0: life0 },
      });
      m.expectSubscriptions(hash$.subscriptions).toBe(life0);
      m.expectSubscriptions(terminate$.subscriptions).toBe(life0);
    }),
  );

  it(
    'starts no epoch to drain, neither then nor for a change that comes meanwhile',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '11s': 'b' }));
      const terminate$ = m.hot('10s t');
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'] });
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'A|' }),
        hashes: 'a',
        checked: '-',
      });
    }),
  );

  it(
    'waits for what is in flight, asking every 500 ms',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const active = [at({ '0s': '3', '17.7s': '0' })];
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '18s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], active });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it.each([
    { what: 'something is in flight', active: '3' },
    { what: 'it is unknown what is in flight', active: '?' },
    { what: 'what is in flight becomes unknown', active: '3 12s ?' },
  ])('waits until the cap of 20 s, and no longer, while $what', ({ active }) =>
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      // 20 s of draining
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '30s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], active: [active] });
      m.expectObservable(agent.serving$).toBe(serving);
    })(),
  );

  it(
    'keeps to the cap if it is below the minimum',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '12.2s': 'A|' });
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-'] },
        { timing: { drainMinimum: 5_000, drainCap: 2_200 } },
      );
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'kills an Envoy that is still there 1 s after SIGTERM',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], ignoresTerm: [0] });
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'T', '16s': 'A|' }),
        signalled: at({ '15s': 'T', '16s': 'K' }),
        lives: { 0: at({ '0s': '^', '16s': '!' }) },
      });
    }),
  );

  it(
    'skips the drain when it comes a second time',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot(at({ '10s': 't', '11s': 't' }));
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], active: ['3'] });
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '11s': 'A|' }),
        drained: [at({ '10s': 'g', '11s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: '11s T',
      });
    }),
  );

  it(
    'sends no second SIGTERM to an Envoy that has had one, because it was replaced side by side: that would kill it before its access log is written',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b' }));
      const terminate$ = m.hot(at({ '22.7s': 'tt' }));
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        {
          processes: ['23.1s c', '-'],
          health: [at({ '0s': '?', '21.2s': 'u' })],
          ignoresTerm: [0],
        },
      );
      play(m, agent, {
        serving: at({ '0s': 'n', '21.5s': '1', '22.7s': 'T', '23.1s': 'A|' }),
        signalled: at({ '22.5s': 'T', '22.7s': 'T' }), // to 0, and to 1
        lives: { 0: at({ '0s': '^', '23.1s': '!' }), 1: at({ '21s': '^', '22.7s': '!' }) },
      });
    }),
  );

  it(
    'kills every Envoy when it comes a third time',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot(at({ '10s': 't', '11s': 't', '11.5s': 't' }));
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-', '-'], ignoresTerm: [0, 1] },
      );
      play(m, agent, {
        serving: at({
          '0s': 'n',
          '500ms': '0',
          '5.5s': '1',
          '10s': 'D',
          '11s': 'T',
          '11.5s': 'A|',
        }),
        signalled: at({ '11s': 'T', '11.5s': 'KK' }), // the parent would have received it after its child
        lives: { 0: at({ '0s': '^', '11.5s': '!' }), 1: at({ '5s': '^', '11.5s': '!' }) },
      });
    }),
  );

  it(
    'ends an agent without a process at once: before the first hash',
    marbles((m) => {
      const hash$ = m.hot('       -');
      const terminate$ = m.hot('  5s t');
      const serving = '           5s (A|)';
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: [] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'ends an agent without a process at once: during the back-off',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot(at({ '1.1s': 't' }));
      const processes = ['1s k'];
      const serving = at({ '0s': 'n', '500ms': '0', '1s': 'n', '1.1s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'ends an agent without a process at once: while the first failure is examined',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('150ms t');
      const processes = ['100ms f'];
      const checks = ['1s n'];
      const serving = at({ '0s': 'n', '150ms': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes, checks });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'withdraws what waits for its turn',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b' }));
      const terminate$ = m.hot('2s t');
      const health = ['u 3s l'];
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], health });
      play(m, agent, {
        serving: at({ '0s': 'n', '2s': 'D', '7s': 'A|' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'withdraws what is being checked',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b' }));
      const terminate$ = m.hot(at({ '1.5s': 't' }));
      const checks = ['1s y'];
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-'], checks });
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '1.5s': 'D', '6.5s': 'A|' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'asks the parent of a child that is starting to drain, and the child when it was LIVE already and is seen to be',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '7s': 'b' }));
      const terminate$ = m.hot('10.2s t');
      const health = ['l', at({ '0s': 'u', '3.1s': 'l' })];
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-', '-'], active: ['?', '3'], health },
      );
      play(m, agent, {
        unsub: '^ 20s !',
        drained: [at({ '10.2s': 'P', '10.5s': 'C' }), { P: 'g0', C: 'g1' }],
        serving: at({ '0s': '0', '10.2s': 'D' }),
        signalled: '-',
      });
    }),
  );

  it(
    'ends at once when the last Envoy ends during the drain, and was asked for all the same',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const processes = ['12s k'];
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '12s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes, active: ['3'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'goes on draining when the parent ends during the drain',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const processes = ['12s c', '-'];
      const serving = at({ '0s': 'n', '500ms': '0', '5.5s': '1', '10s': 'D', '30s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes, active: ['?', '3'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'kills an Envoy that is being replaced on its own clock, and starts no other',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const terminate$ = m.hot(at({ '11.5s': 't' }));
      const checks = ['(m|)'];
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-'], checks, ignoresTerm: [0] },
      );
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'n', '11.5s': 'D', '12s': 'A|' }),
        signalled: at({ '11s': 'T', '12s': 'K' }),
        hashes: 'a',
      });
    }),
  );
});

describe('while the parent is alive', () => {
  it(
    'nothing counts as idle that has not been so for 6 s, as gauges are up to 5 s old',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const active = ['?', '0'];
      const serving = at({
        '0s': 'n',
        '500ms': '0',
        '5.5s': '1',
        '10s': 'D',
        '16s': 'T',
        '16.1s': 'A|',
      });
      const processes = ['16100ms c', '-'];
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes, active, ignoresTerm: [0] },
      );
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'its child has asked it to end: it gets no SIGTERM of ours, which in its last moments would kill it',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const processes = ['16900ms c', '-'];
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes, active: ['?', '0'], ignoresTerm: [0] },
      );
      play(m, agent, {
        serving: at({
          '0s': 'n',
          '500ms': '0',
          '5.5s': '1',
          '10s': 'D',
          '16s': 'T',
          '16.9s': 'A|',
        }),
        signalled: '16s T',
      });
    }),
  );

  it(
    'it gets one if it is still there after 1 s, and then as any other the SIGKILL',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-', '-'], active: ['?', '0'], ignoresTerm: [0] },
      );
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '5.5s': '1', '10s': 'D', '16s': 'T', '18s': 'A|' }),
        signalled: at({ '16s': 'T', '17s': 'T', '18s': 'K' }),
      });
    }),
  );

  it(
    'it gets its SIGTERM at once if its child had to be killed, and could ask for nothing',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-', '-'], active: ['?', '0'], ignoresTerm: [1] },
      );
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '5.5s': '1', '10s': 'D', '16s': 'T', '17s': 'A|' }),
        signalled: at({ '16s': 'T', '17s': 'KT' }),
      });
    }),
  );

  it(
    'a request in between starts the 6 s again',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const active = ['?', at({ '0s': '0', '14s': '1', '14.5s': '0' })];
      const serving = at({ '0s': 'n', '500ms': '0', '5.5s': '1', '10s': 'D', '20.5s': 'A|' }); // zero again at 14.5 s
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], active });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'its end ends the 6 s, but not the minimum',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const terminate$ = m.hot('10s t');
      const processes = ['12s c', '-'];
      const serving = at({ '0s': 'n', '500ms': '0', '5.5s': '1', '10s': 'D', '15s': 'A|' });
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes, active: ['?', '0'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );
});
