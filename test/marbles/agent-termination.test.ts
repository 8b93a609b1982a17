import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('a request to terminate', () => {
  it(
    'asks Envoy to drain at once and ends it when nothing is in flight, but not before the minimum of 5 s',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      //                              [ 5s    ]
      const serving = '           n 499ms 0 9499ms D 4999ms (A|)';
      const drains = '            10s g 4999ms p';
      const signals = '           - 14999ms T';
      const life0 = '             ^ 14999ms !';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], active: ['0'] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(hash$.subscriptions).toBe(life0);
      m.expectSubscriptions(terminate$.subscriptions).toBe(life0);
    }),
  );

  it(
    'starts no epoch to drain, neither then nor for a change that comes meanwhile',
    marbles((m) => {
      const hash$ = m.hot('       a 10999ms b');
      const terminate$ = m.hot('  10s t');
      const launches = '          a';
      const checks = '            -';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'] });
      m.expectObservable(agent.serving$).toBe('n 499ms 0 9499ms D 4999ms (A|)');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checks);
    }),
  );

  it(
    'waits for what is in flight, asking every 500 ms',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      const active = ['           3 17699ms 0'];
      const serving = '           n 499ms 0 9499ms D 7999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], active });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it.each([
    { what: 'something is in flight', active: '3' },
    { what: 'it is unknown what is in flight', active: '?' },
    { what: 'what is in flight becomes unknown', active: '3 12s ?' },
  ])('waits until the cap of 20 s, and no longer, while $what', ({ active }) =>
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      //                              [ 20s    ]
      const serving = '           n 499ms 0 9499ms D 19999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], active: [active] });
      m.expectObservable(agent.serving$).toBe(serving);
    })(),
  );

  it(
    'keeps to the cap where it is below the minimum',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      const serving = '           n 499ms 0 9499ms D 2199ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'] }, { timing: { drainMinimum: 5_000, drainCap: 2_200 } });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'kills an Envoy that is still there 1 s after SIGTERM',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      const signals = '           15s T 999ms K';
      const serving = '           n 499ms 0 9499ms D 4999ms T 999ms (A|)';
      const life0 = '             ^ 15999ms !';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], ignoresTerm: [0] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'skips the drain when it comes a second time',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t 999ms t');
      const drains = '            10s g 999ms p';
      const signals = '           11s T';
      const serving = '           n 499ms 0 9499ms D 999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], active: ['3'] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'kills every Envoy when it comes a third time',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t 999ms t 499ms t');
      const signals = '           11s T 499ms (KK)'; // the parent would have been told after its child
      const serving = '           n 499ms 0 4999ms 1 4499ms D 999ms T 499ms (A|)';
      const life0 = '             ^ 11499ms !';
      const life1 = '             5s ^ 6499ms !';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], ignoresTerm: [0, 1] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(agent.lives[1] ?? []).toBe(life1);
    }),
  );

  it(
    'ends an agent without a process at once: before the first hash',
    marbles((m) => {
      const hash$ = m.hot('       -');
      const terminate$ = m.hot('  5s t');
      const serving = '           5s (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: [] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'ends an agent without a process at once: during the back-off',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  1100ms t');
      const processes = ['        1s k'];
      const serving = '           n 499ms 0 499ms n 99ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'ends an agent without a process at once: while the first failure is examined',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  150ms t');
      const processes = ['        100ms f'];
      const checks = ['           1s n'];
      const serving = '           n 149ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, checks });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'withdraws what waits for its turn',
    marbles((m) => {
      const hash$ = m.hot('       a 999ms b');
      const terminate$ = m.hot('  2s t');
      const health = ['           u 3s l'];
      const launches = '          a';
      const serving = '           n 1999ms D 4999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], health });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'withdraws what is being checked',
    marbles((m) => {
      const hash$ = m.hot('       a 999ms b');
      const terminate$ = m.hot('  1500ms t');
      const checks = ['           1s y'];
      const launches = '          a';
      const serving = '           n 499ms 0 999ms D 4999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], checks });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'asks a child that is starting to drain, and again when it is LIVE and has the listeners',
    marbles((m) => {
      const hash$ = m.hot('       a 9899ms b');
      const terminate$ = m.hot('  10s t');
      const drains = '            10s G 399ms G';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], active: ['?', '3'] });
      m.expectObservable(agent.drained$, '^ 20s !').toBe(drains, { G: 'g1' });
      m.expectObservable(agent.serving$, '^ 20s !').toBe('n 499ms 0 9499ms D');
    }),
  );

  it(
    'ends at once when the last Envoy ends during the drain, and was asked for all the same',
    marbles((m) => {
      const hash$ = m.hot('       a');
      const terminate$ = m.hot('  10s t');
      const processes = ['        12s k'];
      const serving = '           n 499ms 0 9499ms D 1999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active: ['3'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'goes on draining when the parent ends during the drain',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const processes = ['        12s c', '-'];
      const serving = '           n 499ms 0 4999ms 1 4499ms D 19999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active: ['?', '3'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'kills an Envoy that is being replaced on its own clock, and starts no other',
    marbles((m) => {
      const hash$ = m.hot('       a 9999ms b');
      const terminate$ = m.hot('  11500ms t');
      const checks = ['           (m|)'];
      const signals = '           11s T 999ms K';
      const serving = '           n 499ms 0 9499ms n 1499ms D 499ms (A|)';
      const launches = '          a';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-'], checks, ignoresTerm: [0] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('while the parent is alive', () => {
  it(
    'nothing counts as idle that has not been so for 6 s, as gauges are up to 5 s old',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const active = ['           ?', '0'];
      const serving = '           n 499ms 0 4999ms 1 4499ms D 5999ms T 99ms (A|)';
      const processes = ['        16100ms c', '-'];
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'its child has asked it to end: it gets no SIGTERM of ours, which in its last moments would kill it',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const processes = ['        16900ms c', '-'];
      const serving = '           n 499ms 0 4999ms 1 4499ms D 5999ms T 899ms (A|)';
      const signals = '           16s T';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active: ['?', '0'] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'it gets one if it is still there after 1 s, and then as any other the SIGKILL',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const serving = '           n 499ms 0 4999ms 1 4499ms D 5999ms T 1999ms (A|)';
      const signals = '           16s T 999ms T 999ms K';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], active: ['?', '0'], ignoresTerm: [0] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'it gets its SIGTERM at once where its child had to be killed, and could ask for nothing',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const serving = '           n 499ms 0 4999ms 1 4499ms D 5999ms T 999ms (A|)';
      const signals = '           16s T 999ms (KT)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], active: ['?', '0'], ignoresTerm: [1] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'a request in between starts the 6 s again',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const active = ['           ?', '0 13999ms 1 499ms 0'];
      const serving = '           n 499ms 0 4999ms 1 4499ms D 10499ms T 999ms (A|)'; // zero again at 14.5 s
      const agent = drawAgent(m, { hash$, terminate$ }, { processes: ['-', '-'], active });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'its end ends the 6 s, but not the minimum',
    marbles((m) => {
      const hash$ = m.hot('       a 4999ms b');
      const terminate$ = m.hot('  10s t');
      const processes = ['        12s c', '-'];
      const serving = '           n 499ms 0 4999ms 1 4499ms D 4999ms (A|)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active: ['?', '0'] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );
});
