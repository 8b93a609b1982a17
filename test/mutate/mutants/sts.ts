import type { PlacedMutant } from '../mutant.ts';

export const sts: readonly PlacedMutant[] = [
  {
    id: 'sts/token-grace',
    file: 'pilot-agent/sts/google-token-exchange.ts',
    find: 'scheduler.now() > grace',
    replace: 'scheduler.now() > 0',
  },
  {
    id: 'sts/tries',
    file: 'pilot-agent/sts/google-token-exchange.ts',
    find: 'left > 1 &&',
    replace: 'left > 0 &&',
  },
  {
    id: 'sts/origin',
    file: 'pilot-agent/sts/sts-server.ts',
    find: 'if (headers.origin !== undefined)',
    replace: "if (headers.origin === '')",
  },
];
