import { of } from 'rxjs';
import { describe, it } from 'vitest';
import { drawAgent } from './support/draw-agent.ts';
import { marbles } from './support/marbles.ts';

describe('files that the first epoch waits for', () => {
  it(
    'hold it back until they are there, and nothing is read before',
    marbles((m) => {
      const awaited$ = m.cold('w 29999ms (e|)', { w: ['/certs/key.pem'], e: [] });
      const hash$ = m.cold('   a');
      const unsub = '          ^ 60s !';
      const readings = '       - 29999ms ^ 30s !';
      const launches = '       - 29999ms a';
      const agent = drawAgent(m, { awaited$, hash$ }, { processes: ['-'] });
      m.expectObservable(agent.serving$, unsub).toBe('n 30499ms 0');
      m.expectObservable(agent.hashes$).toBe(launches);
      m.expectSubscriptions(hash$.subscriptions).toBe(readings);
    }),
  );

  it(
    'do not hold back the end: asked to terminate meanwhile, the agent ends at once',
    marbles((m) => {
      const awaited$ = m.cold('   w 30s |', { w: ['/certs/key.pem'] });
      const terminate$ = m.cold(' - 9999ms t');
      const serving = '           n 9999ms (A|)';
      const agent = drawAgent(m, { awaited$, hash$: of('a'), terminate$ }, { processes: [] });
      m.expectObservable(agent.serving$).toBe(serving);
      m.expectObservable(agent.hashes$).toBe('');
    }),
  );
});
