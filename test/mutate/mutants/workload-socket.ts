import type { PlacedMutant } from '../mutant.ts';

const folder = 'pilot-agent/secrets/workload-socket';

export const workloadSocket: readonly PlacedMutant[] = [
  {
    id: 'workload-socket/trust-domain',
    file: `${folder}/svid-identity.ts`,
    find: 'domain !== trustDomain',
    replace: 'false',
  },
  {
    id: 'workload-socket/one-uri',
    file: `${folder}/svid-identity.ts`,
    find: 'uris.length !== 1 || ',
    replace: '',
    explained: 'a certificate with two URIs is not made by the authority of the tests',
  },
  {
    id: 'workload-socket/back-off-first',
    file: `${folder}/socket-secrets.ts`,
    find: 'failures + 1, pause: pauseAfter(failures)',
    replace: 'failures + 1, pause: pauseAfter(failures + 1)',
  },
  {
    id: 'workload-socket/failures-reset',
    file: `${folder}/socket-secrets.ts`,
    find: 'isSteady ? 0 : earlier',
    replace: 'earlier',
  },
  {
    id: 'workload-socket/steady',
    file: `${folder}/socket-secrets.ts`,
    find: 'now - answeredAt >= steady',
    replace: 'true',
  },
  {
    id: 'workload-socket/own-domain',
    file: `${folder}/socket-secrets.ts`,
    find: 'ownDomain === undefined || name === ownDomain',
    replace: 'true',
  },
  {
    id: 'workload-socket/overdue',
    file: `${folder}/socket-secrets.ts`,
    find: 'left > lead ? left - lead : left / 2',
    replace: 'left - lead',
  },
  {
    id: 'workload-socket/nack-version',
    file: `${folder}/sds-client.ts`,
    find: 'if (answer.ok) accepted = versionInfo;',
    replace: 'accepted = versionInfo;',
  },
  {
    id: 'workload-socket/by-domain-version',
    file: 'pilot-agent/secrets/secret.ts',
    find: 'return trustDomains === undefined',
    replace: "return trustDomains !== undefined || roots !== ''",
  },
];
