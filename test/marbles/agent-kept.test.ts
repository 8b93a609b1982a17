import { of } from 'rxjs';
import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

const adopted$ = of([{ epoch: 0, restartEpoch: 4, lineage: 0, pid: 4711 }]);

describe('an Envoy that was kept', () => {
  it(
    'is taken over at once, and hot-restarted for the first reading',
    marbles((m) => {
      const hash$ = m.hot('2s a');
      const processes = ['-', '-'];
      const health = ['l', at({ '0s': 'u', '500ms': 'l' })];
      const agent = scriptedAgent(m, { adopted$, hash$ }, { processes, health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': '0', '2.5s': '1' }),
        checked: '2s c',
        hashes: [at({ '0s': 'k', '2s': 'a' }), { k: '', a: 'a' }],
        restartEpochs: at({ '0s': '4', '2s': '5' }),
        lives: { 0: '^ 30s !' },
      });
    }),
  );

  it(
    'goes on if what is on disk is refused, until that is better',
    marbles((m) => {
      const hash$ = m.hot(at({ '2s': 'a', '12s': 'b' }));
      const processes = ['-', '-'];
      const checks = ['(n|)', '(y|)'];
      const health = ['l', at({ '0s': 'u', '500ms': 'l' })];
      const agent = scriptedAgent(m, { adopted$, hash$ }, { processes, health, checks });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': '0', '12.5s': '1' }),
        restartEpochs: at({ '0s': '4', '12s': '5' }),
      });
    }),
  );

  it(
    'that is not LIVE within 20 s is replaced side by side',
    marbles((m) => {
      const hash$ = m.hot('2s a');
      const processes = ['-', '-'];
      const health = ['u', at({ '0s': 'u', '500ms': 'l' })];
      const agent = scriptedAgent(m, { adopted$, hash$ }, { processes, health });
      play(m, agent, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '22.5s': '1' }),
        restartEpochs: at({ '0s': '4', '22s': '0' }),
        lines: at({ '0s': '0', '22s': 'b' }),
      });
    }),
  );

  it(
    'is left again at once, in the middle of a hot restart too, and nobody is told anything',
    marbles((m) => {
      const hash$ = m.hot('2s a');
      const leave$ = m.hot(at({ '2.05s': 'T' }));
      const processes = ['-', '-'];
      const health = ['l', at({ '0s': 'u', '500ms': 'l' })];
      const agent = scriptedAgent(m, { adopted$, hash$, leave$ }, { processes, health });
      play(m, agent, {
        serving: at({ '0s': '0', '2.05s': 'A|' }),
        drained: '',
        signalled: '',
        lives: { 0: at({ '0s': '^', '2.05s': '!' }), 1: at({ '2s': '^', '2.05s': '!' }) },
      });
    }),
  );
});
