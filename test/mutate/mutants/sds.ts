import type { Mutant } from '../mutant.ts';

export const sds: readonly Mutant[] = [
  { id: 'sds/stale-nonce', file: 'sds/stream.ts', find: 'if (isStale) return', replace: 'if (!isStale) return' },
  {
    id: 'sds/one-in-flight',
    file: 'sds/stream.ts',
    find: 'state.inFlight !== undefined || fresh.size === 0',
    replace: 'fresh.size === 0',
  },
  {
    id: 'sds/only-fresh',
    file: 'sds/stream.ts',
    find: 'state.subscribed.get(name) !== version',
    replace: 'state.subscribed.has(name)',
  },
  {
    id: 'sds/back-again',
    file: 'sds/stream.ts',
    find: 'isComplete && state.claimed === version',
    replace: 'state.claimed === version',
  },
];
