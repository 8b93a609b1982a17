import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { exits } from './support/fake-proxy.ts';
import { marbles } from './support/marbles.ts';

const crashed = { kind: 'envoy', exit: exits.k };

describe('a crash', () => {
  it(
    'is followed by a restart after 200 ms, then twice as long each time up to 30 s, until the budget of 10 is spent',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = Array.from({ length: 11 }, () => '1s k');
      //                       200 ms   400      800      1.6 s    3.2      6.4      12.8      25.6      30        30
      const launches = '     a 1199ms a 1399ms a 1799ms a 2599ms a 4199ms a 7399ms a 13799ms a 26599ms a 30999ms a 30999ms a';
      const restarts = '     0 1199ms 0 1399ms 0 1799ms 0 2599ms 0 4199ms 0 7399ms 0 13799ms 0 26599ms 0 30999ms 0 30999ms 0';
      const end = '          122s (E|)';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.outcome$).toBe(end, { E: crashed });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'is followed by restarts for ever where the budget is 0',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 220s !';
      const processes = [...Array.from({ length: 13 }, () => '1s k'), '-'];
      const health = Array.from({ length: 13 }, () => 'u');
      const serving = '      n 214499ms d'; // 13 × 1 s of life, 51 s and 5 × 30 s of waiting, 0.5 s to be LIVE
      const agent = drawAgent(m, { hash$ }, { processes, health }, { policy: { budget: 0 } });
      m.expectObservable(agent.serving$, unsub).toBe(serving, { n: 'n', d: '13' });
    }),
  );

  it.each([
    { random: 0, share: '20 % shorter', launches: 'a 1159ms a' },
    { random: 0.5, share: 'as long', launches: '   a 1199ms a' },
    { random: 0.75, share: '10 % longer', launches: 'a 1219ms a' },
    { random: 0.9999999999999999, share: 'almost 20 % longer', launches: 'a 1239ms a' },
  ])('waits $share when the dice show $random', ({ random, launches }) =>
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 1500ms !';
      const processes = ['   1s k', '-'];
      const agent = drawAgent(m, { hash$ }, { processes }, { random: () => random });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 499ms n');
      m.expectObservable(agent.hashes$).toBe(launches);
    })(),
  );

  it(
    'has its budget refilled by 5 minutes of stable running, counted from LIVE',
    marbles((m) => {
      const hash$ = m.hot('  a');
      //                             LIVE 0.5 s after its start, stable 5 min later
      const processes = ['   1s k', '300501ms k', '1s k'];
      const launches = '     a 1199ms a 300700ms a';
      const end = '          302901ms (E|)';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { budget: 1 } });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.outcome$).toBe(end, { E: crashed });
    }),
  );

  it(
    'spends the budget for good after less than 5 minutes',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   1s k', '300499ms k'];
      const launches = '     a 1199ms a';
      const end = '          301699ms (E|)';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { budget: 1 } });
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.outcome$).toBe(end, { E: crashed });
    }),
  );

  it(
    'has its budget refilled by a changed configuration',
    marbles((m) => {
      const hash$ = m.hot('  a 4999ms b');
      const unsub = '        ^ 15s !';
      const processes = ['   1s k', '5s c', '5s k', '-'];
      const launches = '     a 1199ms a 3799ms b 5199ms b';
      const restarts = '     0 1199ms 0 3799ms 1 5199ms 0';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { budget: 1 }, timing: { parentShutdown: 1_000 } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 499ms n 699ms 1 3799ms 2 4499ms n 699ms 3');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectObservable(agent.restartEpochs$).toBe(restarts);
    }),
  );

  it(
    'is followed by a start from the changed configuration at once, not after the back-off',
    marbles((m) => {
      const hash$ = m.hot('  a 1099ms b');
      const unsub = '        ^ 5s !';
      const processes = ['   1s k', '-'];
      const launches = '     a 1099ms b';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 499ms n 599ms 1');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'ends the agent with the last Envoy where the policy is exit',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   1s k'];
      const end = '          1s (E|)';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.outcome$).toBe(end, { E: crashed });
    }),
  );

  it(
    'does not end the agent while the parent serves, even where the policy is exit',
    marbles((m) => {
      const hash$ = m.hot('  a 9999ms b');
      const unsub = '        ^ 60s !';
      const processes = ['   -', '100ms f'];
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0');
    }),
  );
});

describe('a clean exit', () => {
  it.each(['backoff', 'exit'] as const)('ends the agent by itself, where the policy is %s', (onCrash) =>
    marbles((m) => {
      const hash$ = m.hot('  -a');
      const processes = ['   c'];
      const life0 = '        -(^!)';
      const end = '          -(E|)';
      const agent = drawAgent(m, { hash$ }, { processes }, { policy: { onCrash } });
      m.expectObservable(agent.outcome$).toBe(end, { E: { kind: 'envoy', exit: exits.c } });
      m.expectSubscriptions(agent.lives[0] ?? []).toBe(life0);
      m.expectSubscriptions(hash$.subscriptions).toBe('^!');
    })(),
  );

  it(
    'is not followed by another start',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 60s !';
      const processes = ['   1s c'];
      const launches = '     a';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 499ms (E|)');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );
});

describe('the first Envoy', () => {
  it(
    'ends the agent when it fails with 1 before it is LIVE and the check refuses as well',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   100ms f'];
      const checks = ['      60ms n'];
      const checked = '      100ms c';
      const end = '          160ms (R|)';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.outcome$).toBe(end, { R: { kind: 'refused', reason: 'key does not match' } });
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );

  it(
    'is started again after the back-off when it fails with 1 but the check accepts',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 2s !';
      const processes = ['   100ms f', '-'];
      const checks = ['      60ms y', '(y|)'];
      //                                   [ 200ms ]
      const checked = '      100ms c 259ms c';
      const launches = '     a 359ms a';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 859ms 1');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'is followed at once by one from the changed configuration, whatever the check would have said of the old one',
    marbles((m) => {
      const hash$ = m.hot('  a 119ms b');
      const unsub = '        ^ 2s !';
      const processes = ['   100ms f', '-'];
      const checks = ['      60ms n', '60ms y'];
      const checked = '      100ms c 19ms c';
      const launches = '     a 179ms b';
      const agent = drawAgent(m, { hash$ }, { processes, checks });
      m.expectObservable(agent.serving$, unsub).toBe('n 679ms 1');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'ends the agent when its address is taken',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   100ms p'];
      const checked = '      -';
      const end = '          100ms (P|)';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.outcome$).toBe(end, { P: { kind: 'address-taken', address: '0.0.0.0:15001' } });
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );

  it.each([
    { how: 'by a signal', sign: 'k' },
    { how: 'with another code', sign: 'x' },
  ])('is started again without being examined when it ends $how', ({ sign }) =>
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 2s !';
      const processes = [`   100ms ${sign}`, '-'];
      const checked = '      300ms c';
      const launches = '     a 299ms a';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 799ms 1');
      m.expectObservable(agent.checked$).toBe(checked);
      m.expectObservable(agent.hashes$).toBe(launches);
    })(),
  );

  it(
    'ends the agent when it can not be started at all: another try would not make it a program',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   100ms n'];
      const launches = '     a';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$).toBe('n 99ms (E|)');
      m.expectObservable(agent.hashes$).toBe(launches);
    }),
  );

  it(
    'is not examined when it fails with 1 after it was LIVE',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const unsub = '        ^ 2s !';
      const processes = ['   1s f', '-'];
      const checked = '      1200ms c';
      const agent = drawAgent(m, { hash$ }, { processes });
      m.expectObservable(agent.serving$, unsub).toBe('n 499ms 0 499ms n 699ms 1');
      m.expectObservable(agent.checked$).toBe(checked);
    }),
  );
});
