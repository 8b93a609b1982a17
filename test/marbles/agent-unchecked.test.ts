import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a check without a verdict', () => {
  it(
    'is repeated after 1, 2, 4 and 8 s, and then the epoch starts without it',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks: ['(k|)'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '25.5s': '1' }),
        checked: at({ '10s': 'c', '11s': 'c', '13s': 'c', '17s': 'c', '25s': 'c' }),
        hashes: at({ '0s': 'a', '25s': 'b' }),
        restartEpochs: at({ '0s': '0', '25s': '1' }),
      });
    }),
  );

  it(
    'is not a refusal: the next verdict decides',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], checks: ['(k|)', '(k|)', '(y|)'] },
      );
      play(m, agent, {
        unsub: '^ 50s !',
        serving: at({ '0s': 'n', '500ms': '0', '13.5s': '1' }),
        checked: at({ '10s': 'c', '11s': 'c', '13s': 'c' }),
        hashes: at({ '0s': 'a', '13s': 'b' }),
      });
    }),
  );

  it(
    'may be followed by a refusal',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], checks: ['(k|)', '(n|)'] });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        checked: at({ '10s': 'c', '11s': 'c' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'for want of memory is repeated each minute, and the old epoch goes on',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const checks = ['(o|)', '(o|)', '(o|)', '(o|)', '(o|)', '(o|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      play(m, agent, {
        unsub: '^ 400s !',
        serving: at({ '0s': 'n', '500ms': '0', '370.5s': '1' }),
        checked: at({
          '10s': 'c',
          '70s': 'c',
          '130s': 'c',
          '190s': 'c',
          '250s': 'c',
          '310s': 'c',
          '370s': 'c',
        }),
        hashes: at({ '0s': 'a', '370s': 'b' }),
      });
    }),
  );

  it(
    'gives way to the next change, which is checked at once, with four repeats of its own',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks: ['(k|)'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '35.5s': '1' }),
        checked: at({
          '10s': 'c',
          '11s': 'c',
          '13s': 'c',
          '17s': 'c',
          '20s': 'c',
          '21s': 'c',
          '23s': 'c',
          '27s': 'c',
          '35s': 'c',
        }),
        hashes: at({ '0s': 'a', '35s': 'c' }),
      });
    }),
  );

  it(
    'is forgotten with a change that is taken back',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '12s': 'a' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], checks: ['(k|)'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        checked: at({ '10s': 'c', '11s': 'c' }),
        hashes: 'a',
      });
    }),
  );
});
