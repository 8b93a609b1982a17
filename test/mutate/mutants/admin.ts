import type { Mutant } from '../mutant.ts';

export const admin: readonly Mutant[] = [
  { id: 'admin/own-connection', file: 'admin/admin-client.ts', find: 'path === whoAnswers ? false : connections', replace: 'connections' },
  { id: 'admin/patience', file: 'admin/admin-client.ts', find: 'patience = 1_000', replace: 'patience = 10_000' },
  {
    id: 'admin/stale-connection',
    file: 'admin/open-answer.ts',
    find: 'request.reusedSocket && error.code',
    replace: '!request.reusedSocket && error.code',
  },
  {
    id: 'admin/request-torn-down',
    file: 'admin/open-answer.ts',
    find: 'return () => request.destroy();',
    replace: 'return () => undefined;',
  },
  { id: 'admin/stats-number', file: 'admin/parse-stats.ts', find: 'Number.isSafeInteger', replace: '!Number.isSafeInteger' },
];
