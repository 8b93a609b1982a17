import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { exits } from '../../src/testing/fake-script.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a child that fails while it starts', () => {
  it(
    'leaves the parent serving, and is tried again at once; the next time after the back-off',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '100ms k', '200ms k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '11s': '3' }),
        // the third after 200 ms
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'b', '10.5s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '10.1s': '1', '10.5s': '1' }),
      });
    }),
  );

  it(
    'is tried again at once also when it has ended in order before it took over, and its parent with it: the agent goes on',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '100ms c', '-'] });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.1s': 'n', '10.6s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '10.1s': '0' }),
      });
    }),
  );

  it(
    'spends no budget on the try without a pause, and is left at that when the budget is spent: the parent is still followed',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '100ms k', '100ms k', '200ms k'];
      const health = [at({ '0s': 'l', '20s': 's' })]; // last answer at 15.6 s, first unanswered request at 20.6 s
      const agent = scriptedAgent(m, { hash$ }, { processes, health }, { policy: { budget: 1 } });
      play(m, agent, {
        unsub: '^ 30s !',
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'b', '10.4s': 'b' }),
        serving: at({ '0s': '0', '22.6s': 'n' }),
      });
    }),
  );

  it(
    'is not tried again when the hash flips back to what the parent runs',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '10.2s': 'a' }));
      const processes = ['-', '100ms f'];
      const checks = ['(y|)', '1s y'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        hashes: at({ '0s': 'a', '10s': 'b' }),
      });
    }),
  );

  it(
    'is not tried again if the policy is exit',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const unsub = '^ 60s !';
      const processes = ['-', '100ms k'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.serving$, unsub).toBe(at({ '0s': 'n', '500ms': '0' }));
    }),
  );

  it(
    'is tried again at once anew after 5 minutes of stable running',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      // LIVE at 10.6 s, stable at 310.6 s
      const processes = ['-', '100ms k', '300501ms k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 330s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.6s': '2', '310.601s': 'n', '311.101s': '3' }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.1s': 'b', '310.601s': 'b' }),
      });
    }),
  );
});

describe('a child that is killed after it took over', () => {
  it(
    'is tried again at once as the child of its parent, which refuses traffic meanwhile',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '5s k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15s': 'n', '15.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '15s': '1' }),
        lives: { 0: '^ 20s !' },
      });
    }),
  );

  it(
    'is tried again as soon when the parent does not answer any more, as is normal after it has handed over',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '5s k', '-'];
      const health = [at({ '0s': 'l', '10.1s': 's' })];
      const agent = scriptedAgent(m, { hash$ }, { processes, health });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': '0', '10.5s': '1', '15s': 'n', '15.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '15s': '1' }),
      });
    }),
  );

  it(
    'is looked at again 30 s after a refusal, as its parent serves no one',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '5s k', '-'];
      const health = [at({ '0s': 'l', '10s': '?' })];
      const checks = ['(y|)', '(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, health, checks });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '10.5s': '1', '15s': 'n', '45.5s': '2' }),
        checked: at({ '10s': 'c', '15s': 'c', '45s': 'c' }),
        hashes: at({ '0s': 'a', '10s': 'b', '45s': 'b' }),
      });
    }),
  );
});

// The child is LIVE at 10.5 s, and asks its parent to end about 60 s later.
describe('a parent that ends while its child is LIVE, and its time is over,', () => {
  it.each(['68501ms c', '72501ms c', '72501ms k'])('is not a crash (%s)', (life) =>
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = [life, '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      play(m, agent, {
        unsub: '^ 90s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1' }),
        hashes: at({ '0s': 'a', '10s': 'b' }),
      });
    })(),
  );
});

describe('the newest Envoy', () => {
  it(
    'ends the agent with its parent when it ends cleanly after it took over',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '5s c'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        outcome: ['15s (E|)', { E: { kind: 'envoy', exit: exits.c } }],
        signalled: '',
        lives: { 0: at({ '0s': '^', '15s': '!' }) },
      });
    }),
  );

  it.each([
    ['at once', '14999ms c'],
    ['while the next one is checked', '14950ms c'],
  ])(
    'ends the agent when it ends cleanly, also if its parent is seen to end before it: %s',
    (_, parent) => {
      marbles((m) => {
        const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
        const agent = scriptedAgent(
          m,
          { hash$ },
          { processes: [parent, '5s c'], checks: ['(y|)', '100ms (y|)'] },
        );
        play(m, agent, {
          outcome: ['15s (E|)', { E: { kind: 'envoy', exit: exits.c } }],
          signalled: '',
        });
      })();
    },
  );

  it('is replaced when it aborts some time after its parent has ended cleanly, before its time', () => {
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['14s c', '14s k', '-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '14.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '14s': 'b' }),
      });
    })();
  });
});
