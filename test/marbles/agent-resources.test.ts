import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

/** The missing resources: `m` names some, `n` none. */
const missing = { m: 'clusters and listeners of istiod:15012', n: '' };

describe('a claim while resources are missing', () => {
  it(
    'waits as a claim, without a check, and goes on when they are there: the old Envoy stays whole',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '70s': 'b' }));
      const resources$ = m.hot(at({ '60s': 'm', '130s': 'n' }), missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['-', '-'] });
      play(m, agent, {
        unsub: '^ 140s !',
        serving: at({ '0s': 'n', '500ms': '0', '130.5s': '1' }),
        checked: '130s c',
        hashes: at({ '0s': 'a', '130s': 'b' }),
        restartEpochs: at({ '0s': '0', '130s': '1' }),
        signalled: '-',
      });
    }),
  );

  it(
    'is taken over by a newer reading',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'c' }));
      const resources$ = m.hot(at({ '5s': 'm', '30s': 'n' }), missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['-', '-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        checked: '30s c',
        serving: at({ '0s': 'n', '500ms': '0', '30.5s': '1' }),
        hashes: at({ '0s': 'a', '30s': 'c' }),
      });
    }),
  );

  it(
    'is withdrawn by a reading that is what runs',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '20s': 'a' }));
      const resources$ = m.hot(at({ '5s': 'm', '30s': 'n' }), missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        checked: '-',
        serving: at({ '0s': 'n', '500ms': '0' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'is withdrawn by a termination',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const resources$ = m.hot(at({ '5s': 'm', '21s': 'n' }), missing);
      const terminate$ = m.hot('20s x');
      const agent = scriptedAgent(m, { hash$, resources$, terminate$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        checked: '-',
        serving: at({ '0s': 'n', '500ms': '0', '20s': 'D', '25s': 'A|' }),
        hashes: 'a',
      });
    }),
  );

  it(
    'waits after a restart by hand too, and goes on with it',
    marbles((m) => {
      const hash$ = m.hot('a');
      const restart$ = m.hot('10s a');
      const resources$ = m.hot(at({ '5s': 'm', '30s': 'n' }), missing);
      const agent = scriptedAgent(m, { hash$, restart$, resources$ }, { processes: ['-', '-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0', '30.5s': '1' }),
        hashes: at({ '0s': 'a', '30s': 'a' }),
      });
    }),
  );

  it(
    'goes on when the Envoy that served is gone, without a parent',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const resources$ = m.hot('5s m', missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['20s k', '-'] });
      play(m, agent, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0', '20s': 'n', '20.5s': '1' }),
        hashes: at({ '0s': 'a', '20s': 'b' }),
        restartEpochs: at({ '0s': '0', '20s': '0' }),
      });
    }),
  );

  it(
    'goes on when the Envoy that served hangs, and is killed after 30 s',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const resources$ = m.hot('5s m', missing);
      const health = [at({ '0s': 'u', '500ms': 'l', '19.601s': 's' })]; // last answer at 15.5 s, first unanswered request at 20.5 s
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['-', '-'], health });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '22.5s': 'n', '46s': '1' }),
        signalled: '45.5s K',
        hashes: at({ '0s': 'a', '45.5s': 'b' }),
        restartEpochs: at({ '0s': '0', '45.5s': '0' }),
      });
    }),
  );

  // The child loses its parent 2 s after it is LIVE. So it will end, and cannot be a parent.
  it(
    'is not a claim that waits if the one that serves has lost its parent: a rescue follows at once',
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b', '11s': 'c' }));
      const resources$ = m.hot('10.6s m', missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['12.5s k', '-', '-'] });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1', '13s': '2' }),
        hashes: at({ '0s': 'a', '10s': 'b', '12.5s': 'c' }),
        lines: at({ '0s': '0', '10s': '0', '12.5s': 'b' }),
      });
    }),
  );

  it.each([
    ['a replaced binary', 'a'],
    ['a lack of memory', 'm'],
  ])('gives up nothing that serves where there is %s', (_, verdict) =>
    marbles((m) => {
      const hash$ = m.hot(at({ '0s': 'a', '10s': 'b' }));
      const resources$ = m.hot(at({ '5s': 'm', '30s': 'n', '31s': 'm', '60s': 'n' }), missing);
      // The resources go missing again before the verdict.
      const agent = scriptedAgent(
        m,
        { hash$, resources$ },
        { processes: ['-', '-'], checks: [`2s (${verdict}|)`, '(y|)'] },
      );
      play(m, agent, {
        unsub: '^ 70s !',
        serving: at({ '0s': 'n', '500ms': '0', '60.5s': '1' }),
        checked: at({ '30s': 'c', '60s': 'c' }),
        signalled: verdict === 'a' ? '61.5s T' : '-', // the Envoys run side by side, without a hot restart
        hashes: at({ '0s': 'a', '60s': 'b' }),
      });
    })(),
  );

  it(
    'is not held back if nobody serves',
    marbles((m) => {
      const hash$ = m.hot('1s a');
      const resources$ = m.hot('m', missing);
      const agent = scriptedAgent(m, { hash$, resources$ }, { processes: ['10s k', '-'] });
      play(m, agent, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '1.5s': '0', '11s': 'n', '11.7s': '1' }),
        hashes: at({ '1s': 'a', '11.2s': 'a' }),
      });
    }),
  );
});
