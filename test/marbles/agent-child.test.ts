import { skip } from 'rxjs';
import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { exits } from './support/fake-proxy.ts';
import { marbles } from './support/marbles.ts';

describe('a child that fails while it starts', () => {
  it(
    'leaves the parent serving and followed again, and is tried again after the back-off',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '100ms f', '200ms f', '-'];
      //                                        [ 200ms ] [ 400ms ]
      const launches = '     a 9999ms b 299ms b 599ms b';
      const restarts = '     0 9999ms 1 299ms 1 599ms 1';
      const looks = '        10s 1 99ms 0 199ms 2 199ms 0 399ms 3 499ms 3';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 10899ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.asked$.pipe(skip(21)), '^ 11500ms !').toBe(looks); // after the 21 of the first 10 s
    }),
  );

  it(
    'is left at that when the budget is spent, and the parent is still followed',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '100ms f', '200ms f'];
      const vitals = ['      l 19999ms s'];
      const launches = '     a 9999ms b 299ms b';
      const agent = drawAgent(m, { hash$ }, { processes, vitals }, { policy: { budget: 1 } });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.serving$, unsub).toBe('0 21499ms n'); // last heard of at 19.5 s
    }),
  );

  it(
    'is not tried again when the hash flips back to what the parent runs',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 199ms a');
      const unsub = '        ^ 60s !';
      const processes = ['   -', '100ms f'];
      const launches = '     a 9999ms b';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('a child that is killed after it took over', () => {
  it(
    'is tried again after 200 ms as the child of its parent, which refuses traffic meanwhile',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '5s k', '-'];
      const launches = '     a 9999ms b 5199ms b';
      const restarts = '     0 9999ms 1 5199ms 1';
      const life0 = '        ^ 20s !';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4499ms n 699ms 2');
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
      const vitals = ['      l 9999ms s'];
      const launches = '     a 9999ms b 5199ms b';
      const restarts = '     0 9999ms 1 5199ms 1';
      const agent = drawAgent(m, { hash$ }, { processes, vitals });
      m.expectObservable(agent.serving$, unsub).toBe('0 10499ms 1 4499ms n 699ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'is replaced together with its parent, without another back-off, when the second try fails too',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   -', '5s k', '50ms f', '-'];
      const launches = '     a 9999ms b 5199ms b 49ms b';
      const restarts = '     0 9999ms 1 5199ms 1 49ms 0';
      const signals = '      15250ms T';
      const life0 = '        ^ 15249ms !';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4499ms n 749ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'is tried again even if its parent ends cleanly meanwhile, and then without a parent',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 20s !';
      const processes = ['   15100ms c', '5s k', '-'];
      const launches = '     a 9999ms b 5199ms b';
      const restarts = '     0 9999ms 1 5199ms 0';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1 4499ms n 699ms 2');
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
      const vitals = ['      l 9999ms ?'];
      const checks = ['      (y|)', '(n|)', '(y|)'];
      const checked = '      10s c 5199ms c 29999ms c';
      const launches = '     a 9999ms b 35199ms b';
      const agent = drawAgent(m, { hash$ }, { processes, vitals, checks });
      m.expectObservable(agent.serving$, unsub).toBe('0 10499ms 1 4499ms n 30699ms 2');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('a parent that ends while its child is LIVE', () => {
  it.each(['c', 'k'])('is no crash, however it ends (%s)', (exit) =>
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 60s !';
      const processes = [`   20s ${exit}`, '-'];
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
