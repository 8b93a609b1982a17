import type { PlacedMutant } from '../mutant.ts';

export const admin: readonly PlacedMutant[] = [
  {
    id: 'admin/own-connection',
    file: 'proxy/admin-client.ts',
    find: 'ofOneEpoch.test(path) ? false : connections',
    replace: 'connections',
  },
  {
    id: 'admin/patience',
    file: 'proxy/admin-client.ts',
    find: 'timeoutMs = 1_000',
    replace: 'timeoutMs = 10_000',
  },
  {
    id: 'admin/stale-connection',
    file: 'proxy/admin-client.ts',
    find: 'reusedSocket && error.code',
    replace: '!reusedSocket && error.code',
  },
  {
    id: 'admin/request-torn-down',
    file: 'shared/http/answer-of.ts',
    find: 'return () => request.destroy();',
    replace: 'return () => undefined;',
  },
  {
    id: 'admin/stats-number',
    file: 'proxy/admin-client.ts',
    find: 'Number.isSafeInteger',
    replace: '!Number.isSafeInteger',
  },
];
