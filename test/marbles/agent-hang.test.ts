import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('an Envoy that hangs', () => {
  it(
    'does not serve after 2 s without an answer, is killed 30 s after the last one and comes back after the back-off',
    marbles((m) => {
      const hash$ = m.hot('a');
      const health = [at({ '0s': 'u', '500ms': 'l', '9.601s': 's' })]; // last answer at 5.5 s, first unanswered request at 10.5 s
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 45s !',
        // 200 ms of back-off, 500 ms to be LIVE
        serving: at({ '0s': 'n', '500ms': '0', '12.5s': 'n', '36.2s': '1' }),
        signalled: at({ '35.5s': 'K' }),
        hashes: at({ '0s': 'a', '35.7s': 'a' }),
        lives: { 0: at({ '0s': '^', '35.5s': '!' }) },
      });
    }),
  );

  it(
    'serves again when it answers again',
    marbles((m) => {
      const hash$ = m.hot('a');
      const health = [at({ '0s': 'u', '500ms': 'l', '9.601s': 's', '33s': 'l' })]; // no answer between 5.5 s and 33 s
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], health });
      play(m, agent, {
        unsub: '^ 120s !',
        serving: at({ '0s': 'n', '500ms': '0', '12.5s': 'n', '33s': '0' }),
        signalled: '-',
      });
    }),
  );

  it(
    'is killed after 30 s even if it has never answered',
    marbles((m) => {
      const hash$ = m.hot('a');
      const health = ['s'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '30.7s': '1' }),
        signalled: '30s K',
        hashes: at({ '0s': 'a', '30.2s': 'a' }),
      });
    }),
  );

  it(
    'spends the budget like any other crash',
    marbles((m) => {
      const hash$ = m.hot('a');
      const unsub = '^ 90s !';
      const health = [at({ '0s': 'u', '500ms': 'l', '9.601s': 's' }), 's'];
      const serving = at({ '0s': 'n', '500ms': '0', '12.5s': 'n', '65.7s': 'E|' });
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health },
        { policy: { budget: 1 } },
      );
      m.expectObservable(agent.serving$, unsub).toBe(serving);
    }),
  );

  it(
    'is not killed if there is no admin endpoint to ask',
    marbles((m) => {
      const hash$ = m.hot('a');
      const unsub = '^ 120s !';
      const health = [at({ '0s': 'l', '10s': '?' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('0');
    }),
  );

  it(
    'is replaced side by side by a change after 20 s of waiting for it, and killed when the new one is LIVE',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '12s': 'b' }));
      const health = [at({ '0s': 'l', '6s': 's' })]; // last answer at 5 s
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health, ignoresTerm: [0] },
      );
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': '0', '12s': 'n', '32.5s': '1' }),
        // after 20 s
        hashes: at({ '0s': 'a', '32s': 'b' }),
        restartEpochs: at({ '0s': '0', '32s': '0' }),
        signalled: at({ '32.5s': 'K' }),
      });
    }),
  );
});
