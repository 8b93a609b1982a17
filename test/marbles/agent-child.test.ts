import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { exits } from './support/fake-proxy.ts';
import { marbles } from './support/marbles.ts';

describe('a child that fails while it starts', () => {
  it(
    'leaves the parent serving, and is tried again at once; the next time after the back-off',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '100ms k', '200ms k', '-'];
      //                                               [ 200ms ]
      const launches = '     a 9999ms b 99ms b 399ms b';
      const restarts = '     0 9999ms 1 99ms 1 399ms 1';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10499ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'spends no budget on the try without a pause, and is left at that when the budget is spent: the parent is still followed',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '100ms k', '100ms k', '200ms k'];
      const health = ['      l 19999ms s']; // last heard of at 19.6 s
      const launches = '     a 9999ms b 99ms b 299ms b';
      const agent = drawAgent(m, { hash$ }, { processes, health }, { policy: { budget: 1 } });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.serving$, unsub).toBe('0 21599ms n');
    }),
  );

  it(
    'is not tried again when the hash flips back to what the parent runs',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 199ms a');
      const unsub = '        ^ 60s !';
      const processes = ['   -', '100ms f'];
      const checks = ['      (y|)', '1s y'];
      const launches = '     a 9999ms b';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'is not tried again where the policy is exit',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 60s !';
      const processes = ['   -', '100ms k'];
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
    }),
  );

  it(
    'is tried again at once anew after 5 minutes of stable running',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 330s !';
      //                                       LIVE at 10.6 s, stable at 310.6 s
      const processes = ['   -', '100ms k', '300501ms k', '-'];
      const launches = '     a 9999ms b 99ms b 300500ms b';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10099ms 2 300s n 499ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('a child that is killed after it took over', () => {
  it(
    'is tried again at once as the child of its parent, which refuses traffic meanwhile',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '5s k', '-'];
      const launches = '     a 9999ms b 4999ms b';
      const restarts = '     0 9999ms 1 4999ms 1';
      const life0 = '        ^ 20s !';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4499ms n 499ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'is tried again as soon when the parent does not answer any more, as is normal after it has handed over',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '5s k', '-'];
      const health = ['      l 9999ms s'];
      const launches = '     a 9999ms b 4999ms b';
      const restarts = '     0 9999ms 1 4999ms 1';
      const agent = drawAgent(m, { hash$ }, { processes, health });
      m.expectObservable(agent.serving$, unsub).toBe('0 10499ms 1 4499ms n 499ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'is looked at again 30 s after a refusal, as its parent serves no one',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 60s !';
      const processes = ['   -', '5s k', '-'];
      const health = ['      l 9999ms ?'];
      const checks = ['      (y|)', '(n|)', '(y|)'];
      const checked = '      10s c 4999ms c 29999ms c';
      const launches = '     a 9999ms b 34999ms b';
      const agent = drawAgent(m, { hash$ }, { processes, health, checks });
      m.expectObservable(agent.serving$, unsub).toBe('0 10499ms 1 4499ms n 30499ms 2');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('a parent that ends while its child is LIVE, and its time is over,', () => {
  it.each(['c', 'k'])('is no crash, however it ends (%s)', (exit) =>
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 90s !';
      const processes = [`   70001ms ${exit}`, '-'];
      const launches = '     a 9999ms b';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
    })(),
  );
});

describe('the newest Envoy', () => {
  it(
    'ends the agent with its parent when it ends cleanly after it took over',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const processes = ['   -', '5s c'];
      const life0 = '        ^ 14999ms !';
      const signals = '      15s T';
      const end = '          15s (E|)';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.outcome$).toBe(end, { E: { kind: 'envoy', exit: exits.c } });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );
});
