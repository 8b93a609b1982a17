import type { Mutant } from '../mutant.ts';

export const identity: readonly Mutant[] = [
  {
    id: 'identity/id-namespace',
    file: 'pilot-discovery/identity/node-flaw.ts',
    find: 'if (namespace !== caller.namespace)',
    replace: "if (namespace === '')",
  },
  {
    id: 'identity/metadata',
    file: 'pilot-discovery/identity/node-flaw.ts',
    find: 'claim !== undefined && claim !== caller[part]',
    replace: 'false',
  },
  {
    id: 'identity/account',
    file: 'pilot-discovery/identity/node-flaw.ts',
    find: "['SERVICE_ACCOUNT', 'serviceAccount'],",
    replace: '',
  },
  {
    id: 'identity/trust-domain',
    file: 'pilot-discovery/identity/certificate-caller.ts',
    find: 'caller.trustDomain !== trustDomain',
    replace: 'false',
  },
  {
    id: 'identity/one-uri',
    file: 'pilot-discovery/identity/certificate-caller.ts',
    find: 'uris.length !== 1',
    replace: 'uris.length === 0',
  },
  {
    id: 'identity/unverified',
    file: 'pilot-discovery/identity/presented.ts',
    find: "socket.authorized ? { type: 'verified', certificate } : { type: 'refused', reason }",
    replace: "{ type: 'verified', certificate }",
  },
  {
    id: 'identity/later-node',
    file: 'pilot-discovery/push/call-events.ts',
    find: 'request.node && flawOf(request.node)',
    replace: 'undefined',
  },
  {
    id: 'identity/token-audience',
    file: 'pilot-discovery/identity/review-by-api.ts',
    find: 'audiences.includes(String(name))',
    replace: 'name !== undefined',
  },
  {
    id: 'identity/token-verdict',
    file: 'pilot-discovery/identity/review-by-api.ts',
    find: "memberOf(status, 'authenticated') !== true",
    replace: "memberOf(status, 'authenticated') === false",
  },
  {
    id: 'identity/token-account',
    file: 'pilot-discovery/identity/review-by-api.ts',
    find: "|| !listOf(memberOf(user, 'groups')).includes(accounts)",
    replace: '',
  },
  {
    id: 'identity/token-away',
    file: 'pilot-discovery/identity/review-by-api.ts',
    find: ': unavailable(answer.failure.reason)',
    replace: ": unauthenticated('')",
  },
  {
    id: 'identity/token-length',
    file: 'pilot-discovery/identity/bearer-token.ts',
    find: 'value.length > longestToken',
    replace: 'value.length > 2 * longestToken',
  },
  {
    id: 'identity/token-and-certificate',
    file: 'pilot-discovery/identity/identify.ts',
    find: 'spiffeOf(claimed) === spiffeOf(caller)',
    replace: 'claimed.namespace === caller.namespace',
  },
  {
    id: 'identity/token-for-certificate',
    file: 'pilot-discovery/identity/identify.ts',
    find: "if (certificate.type === 'refused')",
    replace: "if (certificate.type === 'refused' && authorization.length === 0)",
  },
  {
    id: 'identity/token-expiry',
    file: 'pilot-discovery/identity/recent-callers.ts',
    find: 'Math.min(now + longest, proof.claims.expires)',
    replace: 'now + longest',
  },
  {
    id: 'identity/token-refusal',
    file: 'pilot-discovery/identity/recent-callers.ts',
    find: '!identity.ok || until <= now',
    replace: 'until <= now',
  },
  {
    id: 'identity/token-key',
    file: 'pilot-discovery/identity/recent-callers.ts',
    find: '.update(`${trustDomain} ${token}`)',
    replace: '.update(token.slice(0, 1))',
  },
  {
    id: 'identity/token-flood',
    file: 'pilot-discovery/identity/bounded-reviews.ts',
    find: 'budgets.isSpent(client, scheduler.now())',
    replace: 'false',
  },
  {
    id: 'identity/token-shown',
    file: 'pilot-discovery/identity/identified-calls.ts',
    find: "fault === 'unavailable' ? uncheckable : reason",
    replace: 'reason',
  },
];
