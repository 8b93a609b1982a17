import type { PlacedMutant } from '../mutant.ts';

export const streams: readonly PlacedMutant[] = [
  {
    id: 'streams/hash-distinct',
    file: 'streams/readings.ts',
    find: 'const isNew = last?.hash !== reading.hash;',
    replace: 'const isNew = true;',
  },
  {
    id: 'streams/hash-in-order',
    file: 'streams/readings.ts',
    find: 'concatMap((read$)',
    replace: 'switchMap((read$)',
  },
  {
    id: 'streams/reread-interval',
    file: 'streams/readings.ts',
    find: 'reread = 60_000',
    replace: 'reread = 600_000',
  },
  {
    id: 'streams/most-links',
    file: 'streams/link-hops.ts',
    find: '++links <= maxLinks',
    replace: '++links < maxLinks',
  },
  {
    id: 'streams/wait-absent-only',
    file: 'streams/wait-for-files.ts',
    find: "!signs.includes('absent')",
    replace: "!signs.includes('barred')",
  },
  {
    id: 'streams/wait-limit',
    file: 'streams/wait-for-files.ts',
    find: 'takeUntil(timer(limit, scheduler)),',
    replace: '',
  },
  {
    id: 'streams/watch-retry-most',
    file: 'streams/watch-files.ts',
    find: 'longest: 30_000',
    replace: 'longest: 60_000',
  },
  {
    id: 'streams/watch-told-once',
    file: 'streams/watch-files.ts',
    find: '!reportedPaths.has(sign.path) &&',
    replace: '',
  },
  {
    id: 'streams/compose-no-source',
    file: 'streams/config-source.ts',
    find: 'defaultIfEmpty([]),',
    replace: '',
  },
  {
    id: 'operators/clock-looks',
    file: 'operators/clock-timer.ts',
    find: 'merge(exact$, due$)',
    replace: 'exact$',
  },
  {
    id: 'operators/clock-longest',
    file: 'operators/clock-timer.ts',
    find: 'delay > longestTimer ? NEVER : timer(delay, scheduler)',
    replace: 'timer(delay, scheduler)',
  },
];
