import type { PlacedMutant } from '../mutant.ts';

export const envoy: readonly PlacedMutant[] = [
  {
    id: 'envoy/pinned-sum',
    file: 'pilot-agent/envoy/install-envoy.ts',
    find: 'given === undefined && sum !== expectedSum',
    replace: 'given === undefined && false',
  },
  {
    id: 'envoy/empty-path',
    file: 'pilot-agent/envoy/find-envoy.ts',
    find: "const folders = (path ?? '').split(':').filter((folder) => folder !== '');",
    replace: "const folders = (path ?? '').split(':');",
  },
];
