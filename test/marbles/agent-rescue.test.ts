import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('a parent that refuses every child', () => {
  it(
    'is replaced side by side when the second child ends with 1, at once and without a check: goodbye for 1 s, closed listeners, SIGTERM',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '50ms k', '50ms f', '-'];
      const checked = '      10s c 49ms c';
      const launches = '     a 9999ms b 49ms b 49ms b';
      const restarts = '     0 9999ms 1 49ms 1 49ms 0';
      const lines = '        0 9999ms 0 49ms 0 49ms b';
      //                                              LIVE seen at 10.6 s [ 1s ]
      const drains = '       10600ms g 999ms (pp)';
      const signals = '      11600ms T';
      const life0 = '        ^ 11599ms !';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10099ms 3');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.lines$).toBe(lines);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'is replaced whatever the second child ends with, where it does not serve any more',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '5s k', '50ms k', '-'];
      const launches = '     a 9999ms b 4999ms b 49ms b';
      const restarts = '     0 9999ms 1 4999ms 1 49ms 0';
      const signals = '      16550ms T';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4499ms n 549ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'is drained first, and replaced by an Envoy that starts after it, where no other may be beside it',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '50ms k', '50ms f', 'n', '-'];
      const drains = '       10100ms g 999ms (pp)';
      const launches = '     a 9999ms b 49ms b 49ms b 999ms b';
      const lines = '        0 9999ms 0 49ms 0 49ms b 999ms 0';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9599ms n 1499ms 4');
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );

  it(
    'goes on serving when the Envoy beside it fails, which is a crash',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '50ms k', '50ms f', '50ms p', '50ms f', '-'];
      //                                                       [ 200ms ]
      const launches = '     a 9999ms b 49ms b 49ms b 249ms b 49ms b';
      const lines = '        0 9999ms 0 49ms 0 49ms b 249ms 0 49ms b';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10399ms 5');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );
});

describe('a parent that ends before its time', () => {
  it.each(['c', 'k'])('dooms its child, which is replaced side by side before it ends (%s)', (exit) =>
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = [`   15s ${exit}`, '25s k', '-'];
      const checked = '      10s c 4999ms c';
      const launches = '     a 9999ms b 4999ms b';
      const restarts = '     0 9999ms 1 4999ms 0';
      const lines = '        0 9999ms 0 4999ms b';
      const drains = '       15500ms g 999ms (pp)';
      const life1 = '        10s ^ 6499ms !';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4999ms 2');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.lines$).toBe(lines);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g1', p: 'p1' });
      m.expectSubscriptions(agent.lives[1] ?? []).toBe(life1);
    })(),
  );

  it(
    'does so up to the last moment of its time',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 80s !';
      const processes = ['   69999ms c', '-', '-'];
      const launches = '     a 9999ms b 59998ms b';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 59998ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'does not make the change forgotten that waits for its turn',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 2999ms c');
      const unsub = '        ^ 30s !';
      const processes = ['   15s k', '-', '-'];
      const launches = '     a 9999ms b 4999ms c';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4999ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'leaves its child alone when what is on disk is refused, and the next good change is started beside it, whether it answers or not',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 9999ms c');
      const unsub = '        ^ 30s !';
      const processes = ['   15s k', '-', '-'];
      const health = ['      l', '100ms l 6899ms s'];
      const checks = ['      (y|)', '(n|)', '(y|)'];
      const launches = '     a 9999ms b 9999ms c';
      const lines = '        0 9999ms 0 9999ms b';
      const agent = drawAgent(m, { hash$ }, { processes, health, checks });
      m.expectObservable(agent.serving$, unsub).toBe('0 10499ms 1 7999ms n 1999ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );

  it(
    'has its child replaced side by side also for a change that is taken back',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 3999ms c 3999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   15s k', '-', '-'];
      const checks = ['      (y|)', '(n|)', '(y|)'];
      const launches = '     a 9999ms b 7999ms b';
      const lines = '        0 9999ms 0 7999ms b';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 7999ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );
});

describe('an Envoy that was replaced side by side', () => {
  it(
    'is waited for while requests are in flight, and the next epoch is a child at the configured admin endpoint when it is gone',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 6999ms c');
      const unsub = '        ^ 40s !';
      const processes = ['   15s k', '-', '-', '-'];
      const active = ['      0', '3 19999ms 0'];
      const drains = '       15500ms g 999ms p 3499ms p';
      const signals = '      20s T';
      const launches = '     a 9999ms b 4999ms b 4999ms c';
      const restarts = '     0 9999ms 1 4999ms 0 4999ms 1';
      const lines = '        0 9999ms 0 4999ms b 4999ms 1';
      const agent = drawAgent(m, { hash$ }, { processes, active });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4999ms 2 4999ms 3');
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g1', p: 'p1' });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );

  it(
    'is waited for no longer than a parent would be',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 90s !';
      const processes = ['   15s k', '-', '-'];
      //                     listeners closed at 16.5 s [ 60s ]
      const signals = '      76500ms T';
      const agent = drawAgent(m, { hash$ }, { processes, active: ['0', '3'] });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4999ms 2');
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'is killed where its admin endpoint is silent',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   15s k', '-', '-'];
      const health = ['      u 99ms l', 'u 99ms l 5099ms s', 'u 99ms l'];
      const drains = '       -';
      const signals = '      15500ms K';
      const agent = drawAgent(m, { hash$ }, { processes, health });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4999ms 2');
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'is drained together with its successor when the agent is asked to end, and what is in flight in it is waited for',
    marbles((m) => {
      const hash$ = m.hot('       a 9999ms b');
      const terminate$ = m.hot('  16s t');
      const processes = ['        15s k', '-', '-'];
      const active = ['           0', '3 22999ms 0', '0'];
      const drains = '            15500ms g 499ms (gG) 496ms p 6499ms (pP)';
      const signals = '           23s (TT)';
      const agent = drawAgent(m, { hash$, terminate$ }, { processes, active });
      m.expectObservable(agent.serving$).toBe('n 499ms 0 9999ms 1 4999ms 2 499ms D 6999ms (A|)');
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g1', G: 'g2', p: 'p1', P: 'p2' });
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );
});

describe('an Envoy binary of another hot restart version', () => {
  it(
    'is started beside the one that serves, not as its child',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const checks = ['      60ms a'];
      const launches = '     a 10059ms b';
      const lines = '        0 10059ms b';
      const signals = '      11560ms T';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10059ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );
});

describe('where two Envoys would not fit', () => {
  it(
    'the one that serves is drained, for as long as requests are in flight, and ends before the next one starts',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const checks = ['      (m|)'];
      const active = ['      3 13999ms 0'];
      const drains = '       10s g 999ms p 2999ms p';
      const signals = '      14s T';
      const launches = '     a 13999ms b';
      const lines = '        0 13999ms 0';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], checks, active });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9499ms n 4499ms 1');
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );
});
