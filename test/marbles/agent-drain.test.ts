import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a request to drain', () => {
  it(
    'asks Envoy to drain, and goes on for as long as nothing else is asked',
    marbles((m) => {
      const hash$ = m.hot('a');
      const drain$ = m.hot('10s d');
      const agent = scriptedAgent(m, { hash$, drain$ }, { processes: ['-'], active: ['0'] });
      play(m, agent, {
        unsub: '^ 10m !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D' }),
        drained: ['10s g', { g: 'g0', p: 'p0' }],
        signalled: '-',
      });
    }),
  );

  it(
    'lets a later SIGTERM end Envoy at once: there is nothing left to wait for',
    marbles((m) => {
      const hash$ = m.hot('a');
      const drain$ = m.hot('10s d');
      const terminate$ = m.hot('30s t');
      const agent = scriptedAgent(
        m,
        { hash$, drain$, terminate$ },
        { processes: ['-'], active: ['3'] },
      );
      play(m, agent, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '30s': 'A|' }),
        drained: [at({ '10s': 'g', '30s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: '30s T',
      });
    }),
  );

  it(
    'starts no epoch from then on, for a change or by hand',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '11s': 'b' }));
      const drain$ = m.hot('10s d');
      const restart$ = m.hot('15s c');
      const agent = scriptedAgent(m, { hash$, drain$, restart$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: '^ 10m !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'does not make a crash a wish: the agent ends with Envoy',
    marbles((m) => {
      const hash$ = m.hot('a');
      const drain$ = m.hot('10s d');
      const process = at({ '0s': 'S', '20s': 'x' });
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '20s': 'E|' });
      const agent = scriptedAgent(m, { hash$, drain$ }, { processes: [process] });
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );

  it(
    'is one too many after SIGTERM, and cuts nothing short',
    marbles((m) => {
      const hash$ = m.hot('a');
      const terminate$ = m.hot('10s t');
      const drain$ = m.hot('12s d');
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'A|' });
      const agent = scriptedAgent(
        m,
        { hash$, drain$, terminate$ },
        { processes: ['-'], active: ['0'] },
      );
      m.expectObservable(agent.serving$).toBe(serving);
    }),
  );
});
