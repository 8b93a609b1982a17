import { describe, it } from 'vitest';
import { waitLimits } from '../../src/pilot-discovery/push/wait-limits.ts';
import { marbles } from '../support/marbles/marbles.ts';

const values = { i: { type: 'introduced' }, w: { type: 'warmed' } };

describe('the limits of waits', () => {
  it(
    'has a proxy introduced 1 s after its first request, whatever it asks then',
    marbles((m) => {
      const request$ = m.hot('   -r-r 400ms r|');
      const clusters$ = m.hot('  -|');
      m.expectObservable(waitLimits(request$, clusters$)).toBe('- 1s (i|)', values);
    }),
  );

  it(
    'waits 5 s for endpoints, from the last clusters on',
    marbles((m) => {
      const request$ = m.hot('   r|');
      const clusters$ = m.hot('  -c 2s c---|');
      m.expectObservable(waitLimits(request$, clusters$)).toBe('1s i 6001ms (w|)', values);
    }),
  );
});
