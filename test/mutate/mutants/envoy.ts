import type { Mutant } from '../mutant.ts';

export const envoy: readonly Mutant[] = [
  { id: 'envoy/pinned-sum', file: 'envoy/install-envoy.ts', find: 'pinned && sum !== pinned.sha256', replace: "pinned && sum === ''" },
  {
    id: 'envoy/empty-path',
    file: 'envoy/find-envoy.ts',
    find: "const folders = (path ?? '').split(':').filter((folder) => folder !== '');",
    replace: "const folders = (path ?? '').split(':');",
  },
];
