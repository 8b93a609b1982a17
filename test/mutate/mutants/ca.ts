import type { Mutant } from '../mutant.ts';

export const ca: readonly Mutant[] = [
  { id: 'ca/rotation-ratio', file: 'ca/ca-secrets.ts', find: 'expires - ratio * lifetime', replace: 'created + ratio * lifetime' },
  { id: 'ca/rotation-shortest', file: 'ca/ca-secrets.ts', find: 'Math.max(due - now, shortest)', replace: 'due - now' },
  { id: 'ca/token-expiry', file: 'ca/issue-certificate.ts', find: 'exp * 1000 <= now', replace: 'exp <= now' },
  { id: 'ca/chain-root', file: 'ca/issue-certificate.ts', find: 'chain.length < 2', replace: 'chain.length < 1' },
  { id: 'ca/fleeting-code', file: 'ca/istio-authority.ts', find: '[1, 4, 8, 10, 13, 14]', replace: '[1, 4, 8, 10, 13]' },
  { id: 'ca/failures-counted', file: 'ca/ca-secrets.ts', find: ': pause.steps);', replace: ': 0);' },
  {
    id: 'ca/back-in-vain',
    file: 'ca/ca-secrets.ts',
    find: "failure === 'refused' || isReturn ? next",
    replace: "failure === 'refused' ? next",
  },
  { id: 'ca/back-grows', file: 'ca/ca-secrets.ts', find: 'returnedFrom + pause.returns', replace: 'returnedFrom' },
  { id: 'ca/back-spread', file: 'ca/ca-secrets.ts', find: 'timer(random() * returnSpread, scheduler)', replace: 'timer(0, scheduler)' },
  { id: 'ca/refusal-waits', file: 'ca/ca-secrets.ts', find: "failure === 'refused' || isReturn ? next", replace: 'isReturn ? next' },
  { id: 'ca/away', file: 'ca/istio-authority.ts', find: "if (!isReached) return 'away';", replace: '' },
  { id: 'ca/awaited-since', file: 'run/awaited-authority.ts', find: "return before.stage === 'awaited' ? before : {", replace: 'return {' },
];
