import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

/** The health of the parent, whose admin endpoint the child has closed. */
const mute = at({ '0s': 'l', '10.1s': 's' });
const waits = 'u';

describe('a child that waits for its configuration', () => {
  it(
    'is killed after 20 s, never told to end: its parent serves on, though it does not answer, and 30 s later an Envoy of its own follows',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-', '-'], health: [mute, waits] },
      );
      play(m, agent, {
        unsub: '^ 90s !',
        serving: at({ '0s': '0', '60.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '60s': 'b' }),
        restartEpochs: at({ '0s': '0', '10s': '1', '60s': '0' }),
        lines: at({ '0s': '0', '10s': '0', '60s': 'b' }),
        signalled: at({ '30s': 'K', '60.5s': 'K' }), // the parent cannot be drained
        lives: { 0: at({ '0s': '^', '60.5s': '!' }), 1: at({ '10s': '^', '30s': '!' }) },
      });
    }),
  );

  it(
    'is tried again after 30 s, 60 s, 2 min, 4 min, 5 min, and takes nothing of the budget: the parent is not taken for hung',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const late = Array.from({ length: 7 }, () => waits);
      const processes = Array.from({ length: 8 }, () => '-');
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes, health: [mute, ...late] },
        { policy: { budget: 1 } },
      );
      play(m, agent, {
        unsub: '^ 1190s !',
        serving: '0',
        epochs: at({
          '0s': '0',
          '10s': '1',
          '60s': '2',
          '140s': '3',
          '280s': '4',
          '540s': '5',
          '860s': '6',
          '1180s': '7',
        }),
        signalled: at({
          '30s': 'K',
          '80s': 'K',
          '160s': 'K',
          '300s': 'K',
          '560s': 'K',
          '880s': 'K',
        }),
      });
    }),
  );

  it.each([
    ['a change', { '0s': 'a', '10s': 'b', '40s': 'c' } as const, '-', 'c'],
    ['a restart by hand', { '0s': 'a', '10s': 'b' } as const, '40s b', 'b'],
  ])('is followed by %s at once', (_, hashes, byHand, last) =>
    marbles((m) => {
      const agent = scriptedAgent(
        m,
        { hash$: m.hot(at(hashes)), restart$: m.hot(byHand) },
        { processes: ['-', '-', '-'], health: [mute, waits] },
      );
      play(m, agent, {
        unsub: '^ 50s !',
        serving: at({ '0s': '0', '40.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '40s': last }),
      });
    })(),
  );

  it(
    'makes way for the change that has waited for it',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '25s': 'c' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-', '-'], health: [mute, waits] },
      );
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': '0', '30.5s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '30s': 'c' }),
      });
    }),
  );

  it.each(['20s', '40s'] as const)(
    'is not tried again when the hash flips back to what its parent runs (at %s)',
    (time) =>
      marbles((m) => {
        const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', [time]: 'a' }));
        const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health: [mute, waits] });
        play(m, agent, { unsub: '^ 120s !', serving: '0', hashes: at({ '0s': 'a', '10s': 'b' }) });
      })(),
  );

  it(
    'is left alone when it is LIVE in the last moment',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health: [mute, at({ '0s': 'u', '19.9s': 'l' })] },
      );
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': '0', '30s': '1' }),
        hashes: at({ '0s': 'a', '10s': 'b' }),
        signalled: '-',
      });
    }),
  );

  it(
    'is killed by a termination: its parent drains, and only that is told to end',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const terminate$ = m.hot('15s t');
      const agent = scriptedAgent(
        m,
        { hash$, terminate$ },
        { processes: ['-', '-'], health: [mute, waits], active: ['?', '0'] },
      );
      play(m, agent, {
        serving: at({ '0s': '0', '15s': 'D', '35s': 'A|' }),
        signalled: at({ '15s': 'K', '35s': 'T' }),
        drained: [at({ '15s': 'G', '35s': 'P' }), { G: 'g0', P: 'p0' }],
        lives: { 0: at({ '0s': '^', '35s': '!' }), 1: at({ '10s': '^', '15s': '!' }) },
      });
    }),
  );
});

describe('an Envoy that waits for its configuration, and comes up alone,', () => {
  it(
    'is replaced cold by a change after 1 s: in its place, without a parent, with the same admin port',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(m, { hash$ }, { processes: ['-', '-'], health: ['u'] });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '11.5s': '1' }),
        checked: '11s c',
        signalled: '11s T',
        hashes: at({ '0s': 'a', '11s': 'b' }),
        restartEpochs: at({ '0s': '0', '11s': '0' }),
        lines: at({ '0s': '0', '11s': '0' }),
        lives: { 0: at({ '0s': '^', '11s': '!' }) },
      });
    }),
  );

  it(
    'is replaced by SIGKILL if it stays',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health: ['u'], ignoresTerm: [0] },
      );
      play(m, agent, {
        unsub: '^ 20s !',
        signalled: at({ '11s': 'T', '12s': 'K' }),
        serving: at({ '0s': 'n', '12.5s': '1' }),
      });
    }),
  );

  it(
    'is the parent as usual if it is LIVE meanwhile',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health: [at({ '0s': 'u', '12s': 'l' })], checks: ['2s (y|)'] },
      );
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '12s': '0', '13.5s': '1' }),
        restartEpochs: at({ '0s': '0', '13s': '1' }),
        signalled: '-',
      });
    }),
  );

  it(
    'goes on if the change is refused',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const agent = scriptedAgent(
        m,
        { hash$ },
        { processes: ['-', '-'], health: [at({ '0s': 'u', '15s': 'l' })], checks: ['n'] },
      );
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '15s': '0' }),
        hashes: 'a',
        signalled: '-',
      });
    }),
  );

  it(
    'is left alone while nobody else serves',
    marbles((m) => {
      const agent = scriptedAgent(
        m,
        { hash$: m.hot('a') },
        { processes: ['-'], health: [at({ '0s': 'u', '300s': 'l' })] },
      );
      play(m, agent, {
        unsub: '^ 400s !',
        serving: at({ '0s': 'n', '300s': '0' }),
        hashes: 'a',
        signalled: '-',
      });
    }),
  );
});
