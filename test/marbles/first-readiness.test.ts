import { asyncScheduler, defer, of, takeUntil } from 'rxjs';
import { expect, it } from 'vitest';
import { firstReadiness } from '../../src/pilot-agent/run/status/first-readiness.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

it(
  'why an agent is not ready is told after 10 s and then each minute, as it is then, and only until it is',
  marbles((m) => {
    let looks = 0;
    const reason$ = defer(() => {
      looks += 1;
      return of(asyncScheduler.now() < 30_000 ? 'no clusters' : 'no listeners');
    });
    const ready$ = m.hot(at({ '2m': 'r' }));
    m.expectObservable(firstReadiness(reason$).pipe(takeUntil(ready$))).toBe(
      at({ '10s': 'a', '70s': 'b', '2m': '|' }),
      {
        a: { type: 'found-unready', reason: 'no clusters', forMs: 10_000 },
        b: { type: 'found-unready', reason: 'no listeners', forMs: 70_000 },
      },
    );
    m.flush();
    expect(looks).toBe(4 * 120);
  }),
);
