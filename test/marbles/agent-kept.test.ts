import { of } from 'rxjs';
import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

const adopted$ = of([{ epoch: 0, restartEpoch: 4, lineage: 0, pid: 4711 }]);

describe('an Envoy that was kept', () => {
  it(
    'is taken over at once, and hot-restarted for the first reading',
    marbles((m) => {
      const hash$ = m.hot('  2s a');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '-'];
      const health = ['      l', 'u 99ms l'];
      const checked = '      2s c';
      const launches = '     k 1999ms a';
      const restarts = '     4 1999ms 5';
      const life0 = '        ^ 30s !';
      const agent = drawAgent(m, { adopted$, hash$ }, { processes, health });
      m.expectObservable(agent.serving$, unsub).toBe('0 2499ms 1');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches, { k: '', a: 'a' });
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'goes on where what is on disk is refused, until that is better',
    marbles((m) => {
      const hash$ = m.hot('  2s a 9999ms b');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '-'];
      const checks = ['      (n|)', '(y|)'];
      const health = ['      l', 'u 99ms l'];
      const restarts = '     4 11999ms 5';
      const agent = drawAgent(m, { adopted$, hash$ }, { processes, health, checks });
      m.expectObservable(agent.serving$, unsub).toBe('0 12499ms 1');
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'that is not LIVE within 20 s is replaced side by side',
    marbles((m) => {
      const hash$ = m.hot('  2s a');
      const unsub = '        ^ 30s !';
      const processes = ['   -', '-'];
      const health = ['      u', 'u 99ms l'];
      const restarts = '     4 21999ms 0';
      const lines = '        0 21999ms b';
      const agent = drawAgent(m, { adopted$, hash$ }, { processes, health });
      m.expectObservable(agent.serving$, unsub).toBe('n 22499ms 1');
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.lines$).toBe(lines);
    }),
  );

  it(
    'is left again at once, in the middle of a hot restart too, and nobody is told anything',
    marbles((m) => {
      const hash$ = m.hot('  2s a');
      const leave$ = m.hot(' 2050ms T');
      const processes = ['   -', '-'];
      const health = ['      l', 'u 99ms l'];
      const life0 = '        ^ 2049ms !';
      const life1 = '        2s ^ 49ms !';
      const agent = drawAgent(m, { adopted$, hash$, leave$ }, { processes, health });
      m.expectObservable(agent.serving$).toBe('0 2049ms (A|)');
      m.expectObservable(agent.drained$).toBe('');
      m.expectObservable(agent.signalled$).toBe('');
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(agent.lives[1] ?? []).toBe(life1);
    }),
  );
});
