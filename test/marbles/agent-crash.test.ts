import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { exits } from '../../src/testing/fake-script.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

const crashed = { kind: 'envoy', exit: exits.k };

describe('a crash', () => {
  it(
    'is followed by a restart after 200 ms, then twice as long each time up to 30 s, until the budget of 10 is spent',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = Array.from({ length: 11 }, () => '1s k');
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        outcome: ['          122s (E|)', { E: crashed }],
        //                     200 ms   400      800      1.6 s    3.2      6.4      12.8      25.6      30        30
        hashes:
          '            a 1199ms a 1399ms a 1799ms a 2599ms a 4199ms a 7399ms a 13799ms a 26599ms a 30999ms a 30999ms a',
        restartEpochs:
          '     0 1199ms 0 1399ms 0 1799ms 0 2599ms 0 4199ms 0 7399ms 0 13799ms 0 26599ms 0 30999ms 0 30999ms 0',
      });
    }),
  );

  it(
    'is followed by restarts after that also if Envoy could not be started in between: it has been there before',
    marbles((m) => {
      const hash$ = m.hot('a');
      const agent = scriptedAgent(m, { hash$ }, { processes: ['1s k', 'n', '-'] });
      play(m, agent, {
        unsub: '^ 10s !',
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'n', '2.1s': '2' }),
        hashes: at({ '0s': 'a', '1.2s': 'a', '1.6s': 'a' }), // after 200 ms and 400 ms
      });
    }),
  );

  it(
    'ends the questions to the one that is gone',
    marbles((m) => {
      const hash$ = m.hot('a');
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['12.9s k', '-'], health: ['l', 'l'] },
      );
      const questions = at({ '0s': '0', '5s': '0', '10s': '0', '13.1s': '1', '18.1s': '1' }); // none at 15 s
      play(m, agent, { unsub: '^ 19s !', serving: at({ '0s': '0', '12.9s': 'n', '13.1s': '1' }) });
      m.expectObservable(agent.asked$, '^ 19s !').toBe(questions);
    }),
  );

  it(
    'ends the questions to one that was not LIVE yet at once, and not when its successor starts',
    marbles((m) => {
      const hash$ = m.hot('a');
      const agent = scriptedAgent(m, { hash$ }, { processes: ['50ms k', '-'], health: ['u', 'l'] });
      // The next one starts 200 ms after the crash: nothing is asked from 60 ms until then.
      const questions = at({ '0s': '0', '20ms': '0', '40ms': '0', '250ms': '1' });
      play(m, agent, { unsub: '^ 260ms !', serving: at({ '0s': 'n', '250ms': '1' }) });
      m.expectObservable(agent.asked$, '^ 260ms !').toBe(questions);
    }),
  );

  it(
    'is followed by restarts for ever if the budget is 0',
    marbles((m) => {
      const hash$ = m.hot('a');
      const unsub = '^ 220s !';
      const processes = [...Array.from({ length: 13 }, () => '1s k'), '-'];
      const health = Array.from({ length: 13 }, () => 'u');
      const serving = at({ '0s': 'n', '214.5s': 'd' }); // 13 × 1 s of life, 51 s and 5 × 30 s of waiting, 0.5 s to be LIVE
      const agent = scriptedAgent(m, { hash$ }, { processes, health }, { policy: { budget: 0 } });
      m.expectObservable(agent.serving$, unsub).toBe(serving, { n: 'n', d: '13' });
    }),
  );

  it.each([
    { random: 0, share: '20 % shorter', launches: at({ '0s': 'a', '1.16s': 'a' }) },
    { random: 0.5, share: 'as long', launches: at({ '0s': 'a', '1.2s': 'a' }) },
    { random: 0.75, share: '10 % longer', launches: at({ '0s': 'a', '1.22s': 'a' }) },
    {
      random: 0.9999999999999999,
      share: 'almost 20 % longer',
      launches: at({ '0s': 'a', '1.24s': 'a' }),
    },
  ])('waits $share when the dice show $random', ({ random, launches }) =>
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['1s k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { random: () => random });
      play(m, agent, {
        unsub: '^ 1500ms !',
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'n' }),
        hashes: launches,
      });
    })(),
  );

  it(
    'has its budget refilled by 5 minutes of stable running, counted from LIVE',
    marbles((m) => {
      const hash$ = m.hot('a');
      // LIVE 0.5 s after its start, stable 5 min later
      const processes = ['1s k', '300501ms k', '1s k'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { budget: 1 } });
      play(m, agent, {
        hashes: at({ '0s': 'a', '1.2s': 'a', '301.901s': 'a' }),
        outcome: [at({ '302.901s': 'E|' }), { E: crashed }],
      });
    }),
  );

  it(
    'spends the budget for good after less than 5 minutes',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['1s k', '300499ms k'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { budget: 1 } });
      play(m, agent, {
        hashes: at({ '0s': 'a', '1.2s': 'a' }),
        outcome: [at({ '301.699s': 'E|' }), { E: crashed }],
      });
    }),
  );

  it(
    'has its budget refilled by a changed configuration',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '5s': 'b' }));
      const processes = ['1s k', '5s c', '5s k', '-'];
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes },
        { policy: { budget: 1 }, timing: { parentShutdown: 1_000 } },
      );
      play(m, agent, {
        unsub: '^ 15s !',
        serving: at({
          '0s': 'n',
          '500ms': '0',
          '1s': 'n',
          '1.7s': '1',
          '5.5s': '2',
          '10s': 'n',
          '10.7s': '3',
        }),
        hashes: at({ '0s': 'a', '1.2s': 'a', '5s': 'b', '10.2s': 'b' }),
        restartEpochs: at({ '0s': '0', '1.2s': '0', '5s': '1', '10.2s': '0' }),
      });
    }),
  );

  it(
    'is followed by a start from the changed configuration at once, not after the back-off',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '1.1s': 'b' }));
      const processes = ['1s k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 5s !',
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'n', '1.6s': '1' }),
        hashes: at({ '0s': 'a', '1.1s': 'b' }),
      });
    }),
  );

  it(
    'ends the agent with the last Envoy if the policy is exit',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   1s k'];
      const end = '          1s (E|)';
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.outcome$).toBe(end, { E: crashed });
    }),
  );

  it(
    'does not end the agent while the parent serves, even if the policy is exit',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const unsub = '^ 60s !';
      const processes = ['-', '100ms f'];
      const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { onCrash: 'exit' } });
      m.expectObservable(agent.serving$, unsub).toBe(at({ '0s': 'n', '500ms': '0' }));
    }),
  );
});

describe('a clean exit', () => {
  it.each(['backoff', 'exit'] as const)(
    'ends the agent by itself, if the policy is %s',
    (onCrash) =>
      marbles((m) => {
        const hash$ = m.hot('  -a');
        const processes = ['   c'];
        const agent = scriptedAgent(m, { hash$ }, { processes }, { policy: { onCrash } });
        play(m, agent, {
          outcome: ['          -(E|)', { E: { kind: 'envoy', exit: exits.c } }],
          lives: { 0: '        -(^!)' },
        });
        m.expectSubscriptions(hash$.subscriptions).toBe('^!');
      })(),
  );

  it(
    'is not followed by another start',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['1s c'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'E|' }),
        hashes: 'a',
      });
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
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        outcome: ['          160ms (R|)', { R: { kind: 'refused', reason: 'key does not match' } }],
        checked: '           100ms c',
      });
    }),
  );

  it(
    'is started again after the back-off when it fails with 1 but the check accepts',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['100ms f', '-'];
      const checks = ['60ms y', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        unsub: '^ 2s !',
        serving: at({ '0s': 'n', '860ms': '1' }),
        // the second after 200 ms
        checked: at({ '100ms': 'c', '360ms': 'c' }),
        hashes: at({ '0s': 'a', '360ms': 'a' }),
      });
    }),
  );

  it(
    'is followed at once by one from the changed configuration, whatever the check would have said of the old one',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '120ms': 'b' }));
      const processes = ['100ms f', '-'];
      const checks = ['60ms n', '60ms y'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        unsub: '^ 2s !',
        serving: at({ '0s': 'n', '680ms': '1' }),
        checked: at({ '100ms': 'c', '120ms': 'c' }),
        hashes: at({ '0s': 'a', '180ms': 'b' }),
      });
    }),
  );

  it(
    'ends the agent when its address is taken',
    marbles((m) => {
      const hash$ = m.hot('  a');
      const processes = ['   100ms p'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        outcome: [
          '          100ms (P|)',
          { P: { kind: 'address-taken', address: '0.0.0.0:15001' } },
        ],
        checked: '           -',
      });
    }),
  );

  it.each([
    { how: 'by a signal', sign: 'k' },
    { how: 'with another code', sign: 'x' },
  ])('is started again without being examined when it ends $how', ({ sign }) =>
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = [`100ms ${sign}`, '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 2s !',
        serving: at({ '0s': 'n', '800ms': '1' }),
        checked: '300ms c',
        hashes: at({ '0s': 'a', '300ms': 'a' }),
      });
    })(),
  );

  it(
    'ends the agent when it can not be started at all: another try would not make it a program',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['100ms n'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        serving: at({ '0s': 'n', '100ms': 'E|' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'is not examined when it fails with 1 after it was LIVE',
    marbles((m) => {
      const hash$ = m.hot('a');
      const processes = ['1s f', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 2s !',
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'n', '1.7s': '1' }),
        checked: '1200ms c',
      });
    }),
  );
});
