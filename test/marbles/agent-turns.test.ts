import { skip } from 'rxjs';
import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('turns', () => {
  it(
    'starts the first epoch at once, without a check',
    marbles((m) => {
      const hash$ = m.hot('-a');
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: at({ '0s': '^', '1s': '!' }),
        serving: at({ '1ms': 'n', '501ms': '0' }),
        hashes: '-a',
        restartEpochs: '-0',
        checked: '-',
        lives: { 0: at({ '1ms': '^', '1s': '!' }) },
      });
    }),
  );

  it(
    'hot-restarts for a change at once, after a check, as the next restart epoch beside the parent',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const processes = ['16s c', '-', '-'];
      const timing = { parentShutdown: 5_000 };
      const agent = scriptedAgent(m, { hash$ }, { processes }, { timing });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '20.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '20s': 'c' }),
        epochs: at({ '0s': '0', '10s': '1', '20s': '2' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '20s': '2' }),
        checked: at({ '10s': 'c', '20s': 'c' }),
        lives: { 0: at({ '0s': '^', '16s': '!' }), 1: '10s ^ 20s !' },
      });
    }),
  );

  it(
    'starts no second epoch for the same hash',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'a' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'waits until the parent is LIVE, which is asked every 500 ms after its first second',
    marbles((m) => {
      const hash$ = m.hot('ab');
      const health = [at({ '0s': '?', '1.9s': 'l' })];
      const looks = at({ '1s': '0', '1.001s': '0', '1.5s': '0', '1.501s': '0', '2s': '01' }); // the turn asks too
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 10s !',
        serving: at({ '0s': 'n', '2s': '0', '2.5s': '1' }),
        hashes: at({ '0s': 'a', '2s': 'b' }),
        restartEpochs: at({ '0s': '0', '2s': '1' }),
      });
      m.expectObservable(agent.asked$.pipe(skip(50)), at({ '0s': '^', '2.002s': '!' })).toBe(looks);
    }),
  );

  it(
    'starts the waiting epoch at once when the parent is gone, as restart epoch 0',
    marbles((m) => {
      const hash$ = m.hot('a-b');
      const processes = ['-----f', '-'];
      const health = ['u'];
      const agent = scriptedAgent(m, { hash$ }, { processes, health });
      play(m, agent, {
        unsub: '^ 1s !',
        serving: at({ '0s': 'n', '505ms': '1' }),
        hashes: 'a----b',
        restartEpochs: '0----0',
        lives: { 0: '^----!', 1: at({ '5ms': '^', '1.001s': '!' }) },
      });
    }),
  );

  it(
    'gives up waiting for LIVE after 20 s: the next epoch comes up beside it, without a parent, and then it is drained and stopped',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b' }));
      const health = [at({ '0s': '?', '21.2s': 'u' })]; // it cannot be asked at first
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '21.5s': '1' }),
        // after 20 s
        hashes: at({ '0s': 'a', '21s': 'b' }),
        epochs: at({ '0s': '0', '21s': '1' }),
        restartEpochs: at({ '0s': '0', '21s': '0' }),
        drained: [at({ '21.5s': 'g', '22.5s': 'pp' }), { g: 'g0', p: 'p0' }],
        signalled: at({ '22.5s': 'T' }),
        lives: { 0: at({ '0s': '^', '22.5s': '!' }) },
      });
    }),
  );

  it(
    'kills what has been replaced side by side and ignores SIGTERM for 1 s, and starts the next child only then',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b', '21.5s': 'c' }));
      const health = [at({ '0s': '?', '21.2s': 'u' })]; // it cannot be asked at first
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-', '-'], health, ignoresTerm: [0] },
      );
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '21.5s': '1', '24s': '2' }),
        hashes: at({ '0s': 'a', '21s': 'b', '23.5s': 'c' }),
        restartEpochs: at({ '0s': '0', '21s': '0', '23.5s': '1' }),
        signalled: at({ '22.5s': 'T', '23.5s': 'K' }),
        lives: { 0: at({ '0s': '^', '23.5s': '!' }) },
      });
    }),
  );

  it(
    'does not take a parent for LIVE because it answers again after a silence',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b' }));
      const health = [at({ '0s': 's', '3.5s': '?', '7s': 'l' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 9s !',
        serving: at({ '0s': 'n', '7s': '0', '7.5s': '1' }),
        hashes: at({ '0s': 'a', '7s': 'b' }),
        restartEpochs: at({ '0s': '0', '7s': '1' }),
        lives: { 0: '^ 9s !' },
      });
    }),
  );

  it(
    'waits for a LIVE parent that is silent until it answers again',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '12s': 'b' }));
      const health = [at({ '0s': 'l', '5s': 's', '15s': 'l' })]; // last answer at 0 s, first unanswered request at 5 s
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': '0', '7s': 'n', '15s': '0', '15.5s': '1' }),
        hashes: at({ '0s': 'a', '15s': 'b' }),
        restartEpochs: at({ '0s': '0', '15s': '1' }),
      });
    }),
  );

  it(
    'does not start an epoch while its grandparent drains',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b', '10s': 'c' }));
      const processes = ['41s c', '-', '-'];
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes },
        { timing: { parentShutdown: 35_000 } },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '5.5s': '1', '41.5s': '2' }),
        hashes: at({ '0s': 'a', '5s': 'b', '41s': 'c' }),
        restartEpochs: at({ '0s': '0', '5s': '1', '41s': '2' }),
        lives: { 0: at({ '0s': '^', '41s': '!' }) },
      });
    }),
  );

  it(
    'waits for a draining grandparent no longer than the parent shutdown time',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b', '10s': 'c' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-', '-'] },
        { timing: { parentShutdown: 60_000 } },
      );
      play(m, agent, {
        unsub: '^ 80s !',
        serving: at({ '0s': 'n', '500ms': '0', '5.5s': '1', '70.5s': '2' }),
        // after 60 s
        hashes: at({ '0s': 'a', '5s': 'b', '70s': 'c' }),
        restartEpochs: at({ '0s': '0', '5s': '1', '70s': '2' }),
      });
    }),
  );

  it(
    'starts one epoch, from the newest hash, for all changes that come while it waits',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b', '2s': 'c', '3s': 'd' }));
      const health = [at({ '0s': '?', '5s': 'l' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '5s': '0', '5.5s': '1' }),
        hashes: at({ '0s': 'a', '5s': 'd' }),
        checked: at({ '5s': 'c' }),
      });
    }),
  );

  it(
    'withdraws the wait when the hash flips back to what runs, and waits anew for the next change',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1s': 'b', '2s': 'a', '12s': 'b' }));
      const health = [at({ '0s': '?', '5s': 'l' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '5s': '0', '12.5s': '1' }),
        hashes: at({ '0s': 'a', '12s': 'b' }),
        checked: at({ '12s': 'c' }),
      });
    }),
  );

  it(
    'checks again when the hash changes during the check',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '10.5s': 'c' }));
      const checks = ['1s n', '1s y'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '12s': '1' }),
        hashes: at({ '0s': 'a', '11.5s': 'c' }),
        checked: at({ '10s': 'c', '10.5s': 'c' }),
      });
    }),
  );

  it(
    'withdraws the epoch when the hash flips back during the check',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '10.5s': 'a' }));
      const checks = ['1s y'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-'], checks });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        hashes: 'a',
      });
    }),
  );
});
