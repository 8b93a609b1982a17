import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('while nobody serves', () => {
  it(
    'a check is waited for no longer than 750 ms, whatever it comes to',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['15s k', '-'], checks: ['20s (n|)'] },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '15s': 'n', '16.25s': '1' }),
        hashes: at({ '0s': 'a', '15.75s': 'b' }),
        restartEpochs: at({ '0s': '0', '15.75s': '0' }),
      });
    }),
  );

  it(
    'a check that ends in 749 ms is waited for',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['15s k', '-'], checks: ['5749ms (n|)', '(y|)'] },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '15s': 'n', '46.249s': '1' }),
        hashes: at({ '0s': 'a', '45.749s': 'b' }),
      });
    }),
  );

  it(
    'a pause between two checks is not waited for either',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['18s k', '-'], checks: ['(k|)'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '18s': 'n', '19.25s': '1' }),
        hashes: at({ '0s': 'a', '18.75s': 'b' }),
      });
    }),
  );

  it(
    'the check of what replaces a child without its parent is not waited for longer than that',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const health = ['l', 'u'];
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['15s k', '-', '-'], health, checks: ['(y|)', '20s (y|)'] },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '15s': 'n', '16.25s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15.75s': 'b' }),
        lines: at({ '0s': '0', '10s': '0', '15.75s': 'b' }),
      });
    }),
  );

  it(
    'a change does not wait for those that drain: it becomes the child of the one that is left',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '12s': 'c' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '5s k', '-'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15s': 'n', '15.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'c' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '15s': '1' }),
      });
    }),
  );

  it(
    'the pause after a crash is kept',
    marbles((m) => {
      const hash$ = m.hot('a');
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['10s k', '600ms k', '600ms k', '600ms k', '-'] },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({
          '0s': 'n',
          '500ms': '0',
          '10s': 'n',
          '10.7s': '1',
          '10.8s': 'n',
          '11.7s': '2',
          '11.8s': 'n',
          '13.1s': '3',
          '13.2s': 'n',
          '15.3s': '4',
        }),
        hashes: at({ '0s': 'a', '10.2s': 'a', '11.2s': 'a', '12.6s': 'a', '14.8s': 'a' }),
      });
    }),
  );
});

describe('a child that hangs on its parent', () => {
  it(
    'is killed after 10 s of silence, and an Envoy beside both takes over at once',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const health = [at({ '0s': 'l', '10.001s': 's' }), 's'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-', '-'], health });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '20.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '20s': 'b' }),
        lines: at({ '0s': '0', '10s': '0', '20s': 'b' }),
        signalled: at({ '20s': 'K', '20.5s': 'K' }),
      });
    }),
  );

  it(
    'is not started if the parent is found silent at its turn, until it answers',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10.3s': 'b' }));
      const health = [at({ '0s': 'l', '9.5s': 's', '12.2s': 'l' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '12s': 'n', '12.5s': '0', '13s': '1' }),
        checked: at({ '12.3s': 'c', '12.5s': 'c' }),
        hashes: at({ '0s': 'a', '12.5s': 'b' }),
      });
    }),
  );
});

describe('a child that is killed after its parent has handed over, and before it is seen LIVE,', () => {
  it(
    'is followed by the next one at once, which the silent parent still has for a child',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const health = [at({ '0s': 'l', '10.05s': 's' }), 's'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '100ms k', '-'], health });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '10.6s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '10.1s': '1' }),
      });
    }),
  );

  it(
    'is followed at once by what waits for it, too',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '10.05s': 'c' }));
      const health = [at({ '0s': 'l', '10.05s': 's' }), 's'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '100ms k', '-'], health });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '10.6s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'c' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '10.1s': '1' }),
      });
    }),
  );

  it(
    'and whose successor is refused, is replaced side by side, even if a check takes long',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '10.05s': 'c' }));
      const health = [at({ '0s': 'l', '10.05s': 's' }), 's'];
      const checks = ['(y|)', '20s (y|)'];
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '100ms k', '-'], health, checks },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        // The parent is unresponsive 2 s after the exit. A successor starts 750 ms later, because
        // no Envoy serves.
        serving: at({ '0s': '0', '12.1s': 'n', '13.35s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '12.85s': 'c' }),
        lines: at({ '0s': '0', '10s': '0', '12.85s': 'b' }),
      });
    }),
  );
});
