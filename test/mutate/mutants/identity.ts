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
];
