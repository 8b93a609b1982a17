import { of } from 'rxjs';
import { describe, it } from 'vitest';
import { at } from '../../src/testing/at.ts';
import { scriptedAgent } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('files that the first epoch waits for', () => {
  it(
    'hold it back until they are there, and nothing is read before',
    marbles((m) => {
      const awaited$ = m.cold(at({ '0s': 'w', '30s': 'e|' }), { w: ['/certs/key.pem'], e: [] });
      const hash$ = m.cold('a');
      const readings = at({ '30s': '^', '60.001s': '!' });
      const agent = scriptedAgent(m, { awaited$, hash$ }, { processes: ['-'] });
      play(m, agent, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '30.5s': '0' }),
        hashes: at({ '30s': 'a' }),
      });
      m.expectSubscriptions(hash$.subscriptions).toBe(readings);
    }),
  );

  it(
    'do not hold back the end: asked to terminate meanwhile, the agent ends at once',
    marbles((m) => {
      const awaited$ = m.cold('w 30s |', { w: ['/certs/key.pem'] });
      const terminate$ = m.cold(at({ '10s': 't' }));
      const agent = scriptedAgent(m, { awaited$, hash$: of('a'), terminate$ }, { processes: [] });
      play(m, agent, {
        serving: at({ '0s': 'n', '10s': 'A|' }),
        hashes: '',
      });
    }),
  );
});
