import type { Mutant } from '../mutant.ts';

export const generate: readonly Mutant[] = [
  {
    id: 'generate/routes/status-codes-need-a-condition',
    file: 'pilot-discovery/generate/routes/retry-policy.ts',
    find: "codes.length > 0 && !named.includes('retriable-status-codes')",
    replace: 'false',
  },
  {
    id: 'generate/routes/hash-stays-on-its-host',
    file: 'pilot-discovery/generate/routes/retry-policy.ts',
    find: 'retries?.retryIgnorePreviousHosts ?? !hashed',
    replace: 'retries?.retryIgnorePreviousHosts ?? true',
  },
  {
    id: 'generate/routes/header-that-is-missing',
    file: 'pilot-discovery/generate/routes/route-match.ts',
    find: 'treatMissingHeaderAsEmpty: match !== undefined',
    replace: 'treatMissingHeaderAsEmpty: false',
  },
  {
    id: 'generate/routes/usual-port-of-https',
    file: 'pilot-discovery/generate/routes/route-action.ts',
    find: "scheme === 'https' ? 443",
    replace: "scheme === 'https' ? 80",
  },
  {
    id: 'generate/routes/mirror-of-none',
    file: 'pilot-discovery/generate/routes/route-action.ts',
    find: '.filter(({ percentage }) => percentage > 0)',
    replace: '.filter(() => true)',
  },
  {
    id: 'generate/routes/hash-of-the-subset-first',
    file: 'pilot-discovery/generate/routes/hash-policy.ts',
    find: 'keyFor(named, port) ?? keyFor(rule?.trafficPolicy, port)',
    replace: 'keyFor(rule?.trafficPolicy, port) ?? keyFor(named, port)',
  },
];
