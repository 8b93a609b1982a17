import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a refused change', () => {
  it(
    'leaves the old epoch in peace, and the next good change is started',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const checks = ['(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '20.5s': '1' }),
        hashes: at({ '0s': 'a', '20s': 'c' }),
        restartEpochs: at({ '0s': '0', '20s': '1' }),
        checked: at({ '10s': 'c', '20s': 'c' }),
        lives: { 0: '^ 60s !' },
      });
    }),
  );

  it(
    'is looked at again every 30 s, for its reason may be over',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const checks = ['(n|)', '(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      play(m, agent, {
        unsub: '^ 120s !',
        serving: at({ '0s': 'n', '500ms': '0', '70.5s': '1' }),
        checked: at({ '10s': 'c', '40s': 'c', '70s': 'c' }),
        hashes: at({ '0s': 'a', '70s': 'b' }),
      });
    }),
  );

  it(
    'is not looked at again once it is taken back',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'a' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], checks: ['(n|)'] });
      play(m, agent, {
        unsub: '^ 120s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        checked: '10s c',
        hashes: 'a',
      });
    }),
  );

  it(
    'is looked at again every 30 s while no Envoy is alive, which spends no budget',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['10s k', '-'];
      const checks = ['(n|)', '(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks }, { policy: { budget: 1 } });
      play(m, agent, {
        unsub: '^ 80s !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'n', '70.7s': '1' }),
        hashes: at({ '0s': 'a', '70.2s': 'a' }),
        // every 30 s
        checked: at({ '10.2s': 'c', '40.2s': 'c', '70.2s': 'c' }),
      });
    }),
  );

  it(
    'is started at once when it changes into a good one, even if no Envoy is alive',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '20s': 'b' }));
      const processes = ['10s k', '-'];
      const checks = ['(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'n', '20.5s': '1' }),
        hashes: at({ '0s': 'a', '20s': 'b' }),
        checked: at({ '10.2s': 'c', '20s': 'c' }),
      });
    }),
  );
});

describe('a restart by hand', () => {
  it(
    'starts the next epoch at once although the hash is the same',
    marbles((m) => {
      const hash$ = m.hot('a');
      const restart$ = m.hot(at({ '10s': 'a' }));
      const agent = scriptedAgent(m, { hash$, restart$ }, { processes: ['-', '-'] });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1' }),
        hashes: at({ '0s': 'a', '10s': 'a' }),
        restartEpochs: at({ '0s': '0', '10s': '1' }),
      });
    }),
  );

  it(
    'is not withdrawn by a hash that flips back to what runs',
    marbles((m) => {
      const hash$ = m.hot('a 1s b 1s a');
      const restart$ = m.hot(at({ '501ms': 'a' }));
      const health = [at({ '0s': '?', '5s': 'l' })];
      const agent = scriptedAgent(m, { hash$, restart$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '5s': '0', '5.5s': '1' }),
        hashes: at({ '0s': 'a', '5s': 'a' }),
      });
    }),
  );

  it(
    'is refused like any other when the files cannot work',
    marbles((m) => {
      const hash$ = m.hot('a');
      const restart$ = m.hot(at({ '10s': 'b' }));
      const checks = ['(n|)'];
      const agent = scriptedAgent(m, { hash$, restart$ }, { processes: ['-'], checks });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'cuts the back-off short',
    marbles((m) => {
      const hash$ = m.hot('a');
      const restart$ = m.hot(at({ '10.1s': 'a' }));
      const processes = ['10s k', '-'];
      const agent = scriptedAgent(m, { hash$, restart$ }, { processes });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'n', '10.6s': '1' }),
        hashes: at({ '0s': 'a', '10.1s': 'a' }),
      });
    }),
  );
});

describe('a request to reopen the logs', () => {
  it(
    'reaches every process there is, and ends none',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const reopen$ = m.hot(at({ '5s': 'r', '20s': 'r', '40s': 'r' }));
      const processes = ['30s c', '-'];
      const agent = scriptedAgent(
        m,
        { hash$, reopen$ },
        { processes },
        { timing: { parentShutdown: 15_000 } },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1' }),
        signalled: at({ '5s': 'U', '20s': 'UU', '40s': 'U' }),
        lives: { 0: at({ '0s': '^', '30s': '!' }), 1: '10s ^ 50s !' },
      });
    }),
  );
});
