import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('turns', () => {
  it(
    'starts the first epoch at once, without a check',
    marbles((m) => {
      const hash$ = m.hot('  -a');
      const unsub = '        ^ 999ms !';
      const launches = '     -a';
      const restarts = '     -0';
      const checks = '       -';
      const serving = '      -n 499ms 0';
      const life0 = '        -^ 998ms !';
      const { serving$, hashes$, restartEpochs$, checked$, lives } = drawAgent(m, { hash$ }, { processes: ['-'] });
      m.expectObservable(serving$, unsub).toBe(serving);
      m.expectObservable(hashes$).toBe(launches);
      m.expectObservable(restartEpochs$).toBe(restarts);
      m.expectObservable(checked$).toBe(checks);
      m.expectSubscriptions(lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'hot-restarts for a change at once, after a check, as the next restart epoch beside the parent',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 9999ms c');
      const unsub = '        ^ 30s !';
      const launches = '     a 9999ms b 9999ms c';
      const epochs = '       0 9999ms 1 9999ms 2';
      const restarts = '     0 9999ms 1 9999ms 2';
      const checks = '       - 9999ms c 9999ms c';
      const serving = '      n 499ms 0 9999ms 1 9999ms 2';
      const life0 = '        ^ 15999ms !';
      const life1 = '        10s ^ 20s !';
      const processes = ['   16s c', '-', '-'];
      const timing = { parentShutdown: 5_000 };
      const { serving$, hashes$, epochs$, restartEpochs$, checked$, lives } = drawAgent(m, { hash$ }, { processes }, { timing });
      m.expectObservable(serving$, unsub).toBe(serving);
      m.expectObservable(hashes$).toBe(launches);
      m.expectObservable(epochs$).toBe(epochs);
      m.expectObservable(restartEpochs$).toBe(restarts);
      m.expectObservable(checked$).toBe(checks);
      m.expectSubscriptions(lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(lives[1] ?? []).toBe(life1);
    }),
  );

  it(
    'starts no second epoch for the same hash',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms a');
      const unsub = '        ^ 60s !';
      const launches = '     a';
      const serving = '      n 499ms 0';
      const { serving$, hashes$ } = drawAgent(m, { hash$ }, { processes: ['-'] });
      m.expectObservable(serving$, unsub).toBe(serving);
      m.expectObservable(hashes$).toBe(launches);
    }),
  );

  it(
    'waits until the parent is LIVE, which is asked every 500 ms',
    marbles((m) => {
      const hash$ = m.hot('  ab');
      const unsub = '        ^ 10s !';
      const health = ['      u 1899ms l'];
      const launches = '     a 1999ms b';
      const restarts = '     0 1999ms 1';
      const looks = '        0 499ms 0 499ms 0 499ms 0 499ms (01)'; // the newest is looked at, and no other
      const { serving$, hashes$, restartEpochs$, asked$ } = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(serving$, unsub).toBe('n 1999ms 0 499ms 1');
      m.expectObservable(hashes$).toBe(launches);
      m.expectObservable(restartEpochs$).toBe(restarts);
      m.expectObservable(asked$, '^ 2001ms !').toBe(looks);
    }),
  );

  it(
    'starts the waiting epoch at once when the parent is gone, as restart epoch 0',
    marbles((m) => {
      const hash$ = m.hot('  a-b');
      const unsub = '        ^ 1s !';
      const processes = ['   -----f', '-'];
      const health = ['      u'];
      const launches = '     a----b';
      const restarts = '     0----0';
      const life0 = '        ^----!';
      const life1 = '        -----^ 995ms !';
      const { serving$, hashes$, restartEpochs$, lives } = drawAgent(m, { hash$ }, { processes, health });
      m.expectObservable(serving$, unsub).toBe('n 504ms 1');
      m.expectObservable(hashes$).toBe(launches);
      m.expectObservable(restartEpochs$).toBe(restarts);
      m.expectSubscriptions(lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(lives[1] ?? []).toBe(life1);
    }),
  );

  it(
    'gives up waiting for LIVE after 20 s: the next epoch comes up beside it, without a parent, and then it is drained and stopped',
    marbles((m) => {
      const hash$ = m.hot('  a 999ms b');
      const unsub = '        ^ 30s !';
      const health = ['      u'];
      //                             [ 20s  ]
      const launches = '     a 20999ms b';
      const epochs = '       0 20999ms 1';
      const restarts = '     0 20999ms 0';
      const drains = '       - 21499ms g 999ms (pp)';
      const signals = '      - 22499ms T';
      const life0 = '        ^ 22499ms !';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 21499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.epochs$).toBe(epochs);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'kills what has been replaced side by side and ignores SIGTERM for 1 s, and starts the next child only then',
    marbles((m) => {
      const hash$ = m.hot('  a 999ms b 20499ms c');
      const unsub = '        ^ 30s !';
      const health = ['      u'];
      const launches = '     a 20999ms b 2499ms c';
      const restarts = '     0 20999ms 0 2499ms 1';
      const signals = '      - 22499ms T 999ms K';
      const life0 = '        ^ 23499ms !';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-', '-'], health, ignoresTerm: [0] });
      m.expectObservable(agent.serving$, unsub).toBe('n 21499ms 1 2499ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectObservable(agent.signalled$).toBe(signals);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'does not take a parent for LIVE because it answers again after a silence',
    marbles((m) => {
      const hash$ = m.hot('  a 999ms b');
      const unsub = '        ^ 9s !';
      const health = ['      s 3499ms u 3499ms l'];
      const launches = '     a 6999ms b';
      const restarts = '     0 6999ms 1';
      const life0 = '        ^ 9s !';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 6999ms 0 499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'waits for a LIVE parent that is silent until it answers again',
    marbles((m) => {
      const hash$ = m.hot('  a 11999ms b');
      const unsub = '        ^ 20s !';
      const health = ['      l 8999ms s 5999ms l']; // last heard of at 8 s
      const serving = '      0 9999ms n 4999ms 0 499ms 1';
      const launches = '     a 14999ms b';
      const restarts = '     0 14999ms 1';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe(serving);
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'does not start an epoch while its grandparent drains',
    marbles((m) => {
      const hash$ = m.hot('  a 4999ms b 4999ms c');
      const unsub = '        ^ 60s !';
      const processes = ['   41s c', '-', '-'];
      const launches = '     a 4999ms b 35999ms c';
      const restarts = '     0 4999ms 1 35999ms 2';
      const life0 = '        ^ 40999ms !';
      const agent = drawAgent(m, { hash$ }, { processes }, { timing: { parentShutdown: 35_000 } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 4999ms 1 35999ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
    }),
  );

  it(
    'waits for a draining grandparent no longer than the parent shutdown time',
    marbles((m) => {
      const hash$ = m.hot('  a 4999ms b 4999ms c');
      const unsub = '        ^ 80s !';
      //                                      [ 60s  ]
      const launches = '     a 4999ms b 64999ms c';
      const restarts = '     0 4999ms 1 64999ms 2';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-', '-'] }, { timing: { parentShutdown: 60_000 } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 4999ms 1 64999ms 2');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'starts one epoch, from the newest hash, for all changes that come while it waits',
    marbles((m) => {
      const hash$ = m.hot('  a 999ms b 999ms c 999ms d');
      const unsub = '        ^ 30s !';
      const health = ['      u 4999ms l'];
      const launches = '     a 4999ms d';
      const checks = '       - 4999ms c';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 4999ms 0 499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checks);
    }),
  );

  it(
    'withdraws the wait when the hash flips back to what runs, and waits anew for the next change',
    marbles((m) => {
      const hash$ = m.hot('  a 999ms b 999ms a 9999ms b');
      const unsub = '        ^ 30s !';
      const health = ['      u 4999ms l'];
      const launches = '     a 11999ms b';
      const checks = '       - 11999ms c';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], health });
      m.expectObservable(agent.serving$, unsub).toBe('n 4999ms 0 7499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checks);
    }),
  );

  it(
    'checks again when the hash changes during the check',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 499ms c');
      const unsub = '        ^ 20s !';
      const checks = ['      1s n', '1s y'];
      const checked = '      - 9999ms c 499ms c';
      const launches = '     a 11499ms c';
      const agent = drawAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 11499ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );

  it(
    'withdraws the epoch when the hash flips back during the check',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b 499ms a');
      const unsub = '        ^ 20s !';
      const checks = ['      1s y'];
      const launches = '     a';
      const agent = drawAgent(m, { hash$ }, { processes: ['-'], checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});
