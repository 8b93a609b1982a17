import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('a parent that refuses every child', () => {
  it(
    'is replaced side by side when the second child ends with 1, at once and without a check: goodbye for 1 s, closed listeners, SIGTERM',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '50ms k', '50ms f', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.6s': '3' }),
        checked: at({ '10s': 'c', '10.05s': 'c' }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.05s': 'b', '10.1s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '10.05s': '1', '10.1s': '0' }),
        lines: at({ '0s': '0', '10s': '0', '10.05s': '0', '10.1s': 'b' }),
        // LIVE seen at 10.6 s, then 1 s
        published: at({ '500ms': '0', '10.05s': '0', '10.6s': '3' }),
        drained: [at({ '10.6s': 'g', '11.6s': 'pp' }), { g: 'g0', p: 'p0' }],
        signalled: at({ '11.6s': 'T' }),
        lives: { 0: at({ '0s': '^', '11.6s': '!' }) },
      });
    }),
  );

  it(
    'is replaced whatever the second child ends with, if it does not serve any more',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '5s k', '50ms k', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15s': 'n', '15.55s': '3' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'b', '15.05s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '15s': '1', '15.05s': '0' }),
        signalled: at({ '16.55s': 'T' }),
      });
    }),
  );

  it(
    'is drained first, and replaced by an Envoy that starts after it, if no other may be beside it',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '50ms k', '50ms f', 'n', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.1s': 'n', '11.6s': '4' }),
        drained: [at({ '10.1s': 'g', '11.1s': 'pp' }), { g: 'g0', p: 'p0' }],
        hashes: at({ '0s': 'a', '10s': 'b', '10.05s': 'b', '10.1s': 'b', '11.1s': 'b' }),
        lines: at({ '0s': '0', '10s': '0', '10.05s': '0', '10.1s': 'b', '11.1s': '0' }),
      });
    }),
  );

  it.each([
    // Nothing is in flight at 40.1 s. Then new clients wait for the 500 ms of a start.
    {
      what: 'until nothing is in flight',
      active: at({ '0s': '3', '40s': '0' }),
      closed: { '40.1s': 'pp' },
      ended: '40.1s',
      serves: '40.6s',
    },
    // 1 s, and 60 s as for a parent; then 1 s for what is in flight.
    {
      what: 'for as long as a parent has',
      active: '3',
      closed: { '71.1s': 'p', '72.1s': 'p' },
      ended: '72.1s',
      serves: '72.6s',
    },
  ])(
    'keeps its listeners open $what if no other may be beside it',
    ({ active, closed, ended, serves }) =>
      marbles((m) => {
        const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
        const processes = ['-', '50ms k', '50ms f', 'n', '-'];
        const agent = scriptedAgent(m, { hash$ }, { processes, active: [active] });
        play(m, agent, {
          unsub: '^ 90s !',
          serving: at({ '0s': 'n', '500ms': '0', '10.1s': 'n', [serves]: '4' }),
          drained: [at({ '10.1s': 'g', ...closed }), { g: 'g0', p: 'p0' }], // its end by SIGTERM is the last p
          epochs: at({ '0s': '0', '10s': '1', '10.05s': '2', '10.1s': '3', [ended]: '4' }),
        });
      })(),
  );

  it.each([
    // Epoch 4 is seen LIVE at 40.6 s. The newest reading is checked then, and after 30 s again.
    {
      what: 'keeps the accepted reading of its replacement while a newer one is refused',
      verdict: '(n|)',
      checked: { '20s': 'c', '40.6s': 'c', '70.6s': 'c' },
      hash: 'b',
    },
    {
      what: 'is replaced by the newest reading if that is accepted meanwhile',
      verdict: '(y|)',
      checked: { '20s': 'c' },
      hash: 'c',
    },
  ])('$what', ({ verdict, checked, hash }) =>
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const processes = ['-', '50ms k', '50ms f', 'n', '-'];
      const checks = ['(y|)', '(y|)', verdict];
      const active = [at({ '0s': '3', '40s': '0' })];
      const agent = scriptedAgent(m, { hash$ }, { processes, active, checks });
      play(m, agent, {
        unsub: '^ 80s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.1s': 'n', '40.6s': '4' }),
        checked: at({ '10s': 'c', '10.05s': 'c', ...checked }),
        hashes: at({ '0s': 'a', '10s': 'b', '10.05s': 'b', '10.1s': 'b', '40.1s': hash }),
      });
    })(),
  );

  it(
    'goes on serving when the Envoy beside it fails, which is a crash',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['-', '50ms k', '50ms f', '50ms p', '50ms f', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.9s': '5' }),
        // the fifth after 200 ms
        hashes: at({
          '0s': 'a',
          '10s': 'b',
          '10.05s': 'b',
          '10.1s': 'b',
          '10.35s': 'b',
          '10.4s': 'b',
        }),
        lines: at({
          '0s': '0',
          '10s': '0',
          '10.05s': '0',
          '10.1s': 'b',
          '10.35s': '0',
          '10.4s': 'b',
        }),
      });
    }),
  );
});

describe('a parent that ends before its time', () => {
  it.each(['c', 'k'])(
    'dooms its child, which is replaced side by side before it ends (%s)',
    (exit) =>
      marbles((m) => {
        const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
        const processes = [`15s ${exit}`, '25s k', '-'];
        const agent = scriptedAgent(m, { hash$ }, { processes });
        play(m, agent, {
          unsub: '^ 30s !',
          serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2' }),
          checked: at({ '10s': 'c', '15s': 'c' }),
          hashes: at({ '0s': 'a', '10s': 'b', '15s': 'b' }),
          restartEpochs: at({ '0s': '0', '10s': '1', '15s': '0' }),
          lines: at({ '0s': '0', '10s': '0', '15s': 'b' }),
          drained: [at({ '15.5s': 'g', '16.5s': 'pp' }), { g: 'g1', p: 'p1' }],
          lives: { 1: at({ '10s': '^', '16.5s': '!' }) },
        });
      })(),
  );

  // The child is LIVE at 10.5 s, and asks its parent to end about 60 s later.
  it.each([
    ['68499ms c', '68.499s', '68.999s'],
    ['72499ms k', '72.499s', '72.999s'],
  ] as const)('does so up to the last moment of its time (%s)', (life, rescue, live) =>
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: [life, '-', '-'] });
      play(m, agent, {
        unsub: '^ 80s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', [live]: '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', [rescue]: 'b' }),
      });
    })(),
  );

  it(
    'counts its time from when its child is LIVE: one of 3 s that is killed 2.6 s later leaves no parent for the next change',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '13.2s': 'c' }));
      const processes = ['13100ms k', '-', '-', '-'];
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes },
        { timing: { parentShutdown: 3_000 } },
      );
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '13.6s': '2', '15.1s': '3' }),
        hashes: at({ '0s': 'a', '10s': 'b', '13.1s': 'b', '14.6s': 'c' }),
        lines: at({ '0s': '0', '10s': '0', '13.1s': 'b', '14.6s': '1' }),
      });
    }),
  );

  it(
    'does not make the change forgotten that waits for its turn',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '13s': 'c' }));
      const processes = ['15s k', '-', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'c' }),
      });
    }),
  );

  it(
    'leaves its child alone when what is on disk is refused, and the next good change is started beside it, whether it answers or not',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const processes = ['15s k', '-', '-'];
      const health = ['l', at({ '500ms': 'l', '5s': 's' })];
      const checks = ['(y|)', '(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, health, checks });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': '0', '10.5s': '1', '17.5s': 'n', '20.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '20s': 'c' }),
        lines: at({ '0s': '0', '10s': '0', '20s': 'b' }),
      });
    }),
  );

  it(
    'has its child replaced side by side also for a change that is taken back',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '14s': 'c', '18s': 'b' }));
      const processes = ['15s k', '-', '-'];
      const checks = ['(y|)', '(n|)', '(y|)'];
      const agent = scriptedAgent(m, { hash$ }, { processes, checks });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '18.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '18s': 'b' }),
        lines: at({ '0s': '0', '10s': '0', '18s': 'b' }),
      });
    }),
  );
});

describe('an Envoy that was replaced side by side', () => {
  it(
    'is waited for while requests are in flight, and the next epoch is a child at the configured admin endpoint when it is gone',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '17s': 'c' }));
      const processes = ['15s k', '-', '-', '-'];
      const active = ['0', at({ '0s': '3', '20s': '0' })];
      const agent = scriptedAgent(m, { hash$ }, { processes, active });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2', '20.5s': '3' }),
        drained: [at({ '15.5s': 'g', '16.5s': 'p', '20s': 'p' }), { g: 'g1', p: 'p1' }],
        signalled: '20s T',
        hashes: at({ '0s': 'a', '10s': 'b', '15s': 'b', '20s': 'c' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '15s': '0', '20s': '1' }),
        lines: at({ '0s': '0', '10s': '0', '15s': 'b', '20s': '1' }),
      });
    }),
  );

  it(
    'is waited for no longer than a parent would be',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['15s k', '-', '-'];
      const agent = scriptedAgent(m, { hash$ }, { processes, active: ['0', '3'] });
      play(m, agent, {
        unsub: '^ 90s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2' }),
        // listeners closed at 16.5 s, then 60 s
        signalled: at({ '76.5s': 'T' }),
      });
    }),
  );

  it(
    'is killed if its admin endpoint is silent',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['15s k', '-', '-'];
      const health = [
        at({ '0s': 'u', '500ms': 'l' }),
        at({ '0s': 'u', '500ms': 'l', '5.2s': 's' }),
        at({ '0s': 'u', '500ms': 'l' }),
      ];
      const agent = scriptedAgent(m, { hash$ }, { processes, health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2' }),
        drained: ['-', { g: 'g0', p: 'p0' }],
        signalled: at({ '15.5s': 'K' }),
      });
    }),
  );

  it(
    'is told nothing more once it has ended',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const processes = ['15s k', '5.9s k', '-']; // 1 has 400 ms after the LIVE of 2
      const agent = scriptedAgent(m, { hash$ }, { processes });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '15.5s': '2' }),
        drained: [at({ '15.5s': 'g' }), { g: 'g1' }], // and not at 16.5 s
        signalled: '',
      });
    }),
  );

  it(
    'is drained together with its successor when the agent is asked to end, and what is in flight in it is waited for',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const terminate$ = m.hot('16s t');
      const processes = ['15s k', '-', '-'];
      const active = ['0', at({ '0s': '3', '23s': '0' }), '0'];
      const agent = scriptedAgent(m, { hash$, terminate$ }, { processes, active });
      play(m, agent, {
        serving: at({
          '0s': 'n',
          '500ms': '0',
          '10.5s': '1',
          '15.5s': '2',
          '16s': 'D',
          '23s': 'A|',
        }),
        drained: [
          at({ '15.5s': 'g', '16s': 'gG', '16.5s': 'p', '23s': 'pP' }),
          { g: 'g1', G: 'g2', p: 'p1', P: 'p2' },
        ],
        signalled: '23s (TT)',
      });
    }),
  );
});

describe('an Envoy binary of another hot restart version', () => {
  it(
    'is started beside the one that serves, not as its child',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const checks = ['60ms a'];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.56s': '1' }),
        hashes: at({ '0s': 'a', '10.06s': 'b' }),
        lines: at({ '0s': '0', '10.06s': 'b' }),
        signalled: at({ '11.56s': 'T' }),
      });
    }),
  );
});

describe('if two Envoys would not fit', () => {
  it(
    'the one that serves is drained, for as long as requests are in flight, and ends before the next one starts',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const checks = ['(m|)'];
      const active = [at({ '0s': '3', '14s': '0' })];
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], checks, active });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'n', '14.5s': '1' }),
        drained: [at({ '10s': 'g', '14s': 'pp' }), { g: 'g0', p: 'p0' }],
        signalled: '14s T',
        hashes: at({ '0s': 'a', '14s': 'b' }),
        lines: at({ '0s': '0', '14s': '0' }),
      });
    }),
  );
});
