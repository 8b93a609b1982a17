import { asyncScheduler } from 'rxjs';
import { describe, it } from 'vitest';
import { followKeys } from '../../src/pilot-discovery/registry/keys/follow-keys.ts';
import { marbles } from '../support/marbles/marbles.ts';

const url = 'https://issuer.example/keys';

describe('followKeys', () => {
  it(
    'waits a minute at most for an answer, whatever the rule says',
    marbles((m) => {
      const result$ = followKeys(
        { has: 'keys', url, timeoutMs: 3_600_000 },
        () => m.cold('-'),
        asyncScheduler,
      );
      m.expectObservable(result$, '^ 60001ms !').toBe('60s a', {
        a: { ok: false, reason: 'there is no answer within 60000 ms' },
      });
    }),
  );
});
