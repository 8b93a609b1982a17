import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('an Envoy that hangs', () => {
  it(
    'does not serve after 2 s of silence, is killed after 30 s and comes back after the back-off',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 45s !';
      const health = ['      u 99ms l 9500ms s']; // last heard of at 9.5 s
      //                                   [ 2s   ][ 28s  ]
      const serving = '      n 499ms 0 10999ms n 28699ms 1';
      const signals = '      39500ms K';
      const launches = '     a 39699ms a';
      const life0 = '        ^ 39499ms !';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'serves again when it answers again',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 120s !';
      const health = ['      u 99ms l 9500ms s 28398ms l']; // not heard of from 9.5 s to 38.5 s
      const serving = '      n 499ms 0 10999ms n 26999ms 0';
      const signals = '      -';
      const agent = drawAgent(m, { hash$ }, { processes: ['-'], health });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );

  it(
    'is killed after 30 s even if it has never answered',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 40s !';
      const health = ['      s'];
      const signals = '      30s K';
      const launches = '     a 30199ms a';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 30699ms 1');
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'spends the budget like any other crash',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 90s !';
      const health = ['      u 99ms l 9500ms s', 's'];
      const serving = '      n 499ms 0 10999ms n 58199ms (E|)';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health }, { policy: { budget: 1 } });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
    }),
  );

  it(
    'is not killed where there is no admin endpoint to ask',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 120s !';
      const health = ['      l 9999ms ?'];
      const agent = drawAgent(m, { hash$ }, { processes: ['-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('0');
    }),
  );

  it(
    'is replaced side by side by a change after 20 s of waiting for it, and killed when the new one is LIVE',
    marbles((m) => {
      const hash$ = m.hot('  a 11999ms b');
      const unsub = '        ^ 40s !';
      const health = ['      l 4999ms s']; // last heard of at 4 s
      //                               [ 20s  ]
      const launches = '     a 31999ms b';
      const restarts = '     0 31999ms 0';
      const signals = '      32500ms K';
      const serving = '      0 5999ms n 26499ms 1';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health, ignoresTerm: [0] });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.signalled$).toBe(signals);
    }),
  );
});
