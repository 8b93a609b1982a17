import type { PlacedMutant } from '../mutant.ts';

export const ca: readonly PlacedMutant[] = [
  {
    id: 'ca/rotation-ratio',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'expires - ratio * lifetime',
    replace: 'created + ratio * lifetime',
  },
  {
    id: 'ca/rotation-shortest',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'Math.max(due - now, shortest)',
    replace: 'due - now',
  },
  {
    id: 'ca/token-expiry',
    file: 'pilot-agent/secrets/ca/issue-certificate.ts',
    find: 'exp * 1000 <= now',
    replace: 'exp <= now',
  },
  {
    id: 'ca/chain-root',
    file: 'pilot-agent/secrets/ca/issue-certificate.ts',
    find: 'chain.length < 2',
    replace: 'chain.length < 1',
  },
  {
    id: 'ca/fleeting-code',
    file: 'pilot-agent/secrets/ca/istio-authority.ts',
    find: '[1, 4, 8, 10, 13, 14]',
    replace: '[1, 4, 8, 10, 13]',
  },
  {
    id: 'ca/rest-of-life',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'Math.min(usual, most)',
    replace: 'usual',
  },
  {
    id: 'ca/least-of-rest',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'Math.max(shareOfRest * rest, leastOfRest)',
    replace: 'shareOfRest * rest',
  },
  {
    id: 'ca/after-the-end',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'rest > 0 ?',
    replace: 'true ?',
  },
  {
    id: 'ca/failures-counted',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: ': pause.steps);',
    replace: ': 0);',
  },
  {
    id: 'ca/back-in-vain',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: "failure === 'refused' || isReturn ? next",
    replace: "failure === 'refused' ? next",
  },
  {
    id: 'ca/back-grows',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'returnedFrom + pause.returns',
    replace: 'returnedFrom',
  },
  {
    id: 'ca/back-spread',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: 'timer(random() * returnSpread, scheduler)',
    replace: 'timer(0, scheduler)',
  },
  {
    id: 'ca/refusal-waits',
    file: 'pilot-agent/secrets/ca/ca-secrets.ts',
    find: "failure === 'refused' || isReturn ? next",
    replace: 'isReturn ? next',
  },
  {
    id: 'ca/away',
    file: 'pilot-agent/secrets/ca/istio-authority.ts',
    find: "if (!isReached) return 'away';",
    replace: '',
  },
  {
    id: 'ca/awaited-since',
    file: 'pilot-agent/run/state/awaited-authority.ts',
    find: "return before.stage === 'awaited' ? before : {",
    replace: 'return {',
  },
];
