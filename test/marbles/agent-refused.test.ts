import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('a refused change', () => {
  it(
    'leaves the old epoch in peace, and the next good change is started',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 9999ms c');
      const unsub = '        ^ 60s !';
      const checks = ['      (n|)', '(y|)'];
      const checked = '      - 9999ms c 9999ms c';
      const launches = '     a 19999ms c';
      const restarts = '     0 19999ms 1';
      const life0 = '        ^ 60s !';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 19999ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'is looked at again every 30 s while no Envoy is alive, which spends no budget',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 80s !';
      const processes = ['   10s k', '-'];
      const checks = ['      (n|)', '(n|)', '(y|)'];
      //                                [ 30s   ][ 30s   ]
      const checked = '      - 10199ms c 29999ms c 29999ms c';
      const launches = '     a 70199ms a';
      const agent = drawAgent(m, { hash$ }, { processes, checks }, { policy: { budget: 1 } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9499ms n 60699ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );

  it(
    'is started at once when it changes into a good one, even if no Envoy is alive',
    marbles((m) => {
      const hash$ = m.hot('  a 19999ms b');
      const unsub = '        ^ 60s !';
      const processes = ['   10s k', '-'];
      const checks = ['      (n|)', '(y|)'];
      const checked = '      - 10199ms c 9799ms c';
      const launches = '     a 19999ms b';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9499ms n 10499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );
});

describe('a restart by hand', () => {
  it(
    'starts the next epoch at once although the hash is the same',
    marbles((m) => {
      const hash$ = m.hot('     a');
      const restart$ = m.hot('  - 9999ms a');
      const unsub = '           ^ 20s !';
      const launches = '        a 9999ms a';
      const restarts = '        0 9999ms 1';
      const agent = drawAgent(m, { hash$, restart$ }, { processes: ['-', '-'] });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'is not withdrawn by a hash that flips back to what runs',
    marbles((m) => {
      const hash$ = m.hot('     a 1s b 1s a');
      const restart$ = m.hot('  - 500ms a');
      const health = ['         u 4999ms l'];
      const unsub = '           ^ 20s !';
      const launches = '        a 4999ms a';
      const agent = drawAgent(m, { hash$, restart$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 4999ms 0 499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'is refused like any other when the files cannot work',
    marbles((m) => {
      const hash$ = m.hot('     a');
      const restart$ = m.hot('  - 9999ms b');
      const checks = ['         (n|)'];
      const unsub = '           ^ 60s !';
      const launches = '        a';
      const agent = drawAgent(m, { hash$, restart$ }, { processes: ['-'], checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'cuts the back-off short',
    marbles((m) => {
      const hash$ = m.hot('     a');
      const restart$ = m.hot('  - 10099ms a');
      const processes = ['      10s k', '-'];
      const unsub = '           ^ 60s !';
      const launches = '        a 10099ms a';
      const agent = drawAgent(m, { hash$, restart$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9499ms n 599ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('a request to reopen the logs', () => {
  it(
    'reaches every process there is, and ends none',
    marbles((m) => {
      const hash$ = m.hot('    a 9999ms b');
      const reopen$ = m.hot('  - 4999ms r 14999ms r 19999ms r');
      const processes = ['     30s c', '-'];
      const unsub = '          ^ 60s !';
      const signals = '        5s U 14999ms (UU) 19996ms U';
      const life0 = '          ^ 29999ms !';
      const life1 = '          10s ^ 50s !';
      const agent = drawAgent(m, { hash$, reopen$ }, { processes }, { timing: { parentShutdown: 15_000 } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 9999ms 1');
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(agent.lives[1] ?? []).toBe(life1);
    }),
  );
});
