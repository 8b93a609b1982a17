import type { Mutant } from '../mutant.ts';

export const log: readonly Mutant[] = [
  { id: 'log/most-lines', file: 'log/envoy-lines.ts', find: 'pending.text.length >= mostLines', replace: 'false' },
  { id: 'log/quiet-counted', file: 'log/envoy-lines.ts', find: 'touched = scheduler.now();', replace: '' },
  { id: 'log/reopened-closed', file: 'log/open-log.ts', find: 'await old?.close();', replace: '' },
];
