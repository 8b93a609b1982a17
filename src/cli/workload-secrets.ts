import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Observable } from 'rxjs';
import { authorityAddress } from '../ca/authority-address.ts';
import type { CaEvent } from '../ca/ca-event.ts';
import { caSecrets } from '../ca/ca-secrets.ts';
import { issueCertificate } from '../ca/issue-certificate.ts';
import { istioAuthority } from '../ca/istio-authority.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import { fileSecrets } from '../secrets/file-secrets.ts';
import type { SetReading } from '../secrets/secret.ts';
import { workloadFiles } from '../secrets/workload-files.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';
import type { SecretsPlan } from './secrets-plan.ts';

/** The set that `default` and `ROOTCA` are of, from where the plan says. `PROV_CERT` beside an authority is what the agent shows the authority. */
export function workloadSecrets(
  { workload, config }: SecretsPlan,
  { provCert, pilotCertProvider = 'istiod' }: Pick<AgentConfig, 'provCert' | 'pilotCertProvider'>,
): Observable<SetReading | CaEvent> {
  if (workload.kind === 'files') {
    const { chain, key, root } = workload.paths;
    return fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) });
  }
  const address = authorityAddress(workload.address, pilotCertProvider, provCert);
  if (address === undefined) {
    throw new Fatal(`PILOT_CERT_PROVIDER: '${pilotCertProvider}' is not one of istiod, kubernetes, custom, system`, exitCodes.config);
  }
  const shown = provCert === '' ? undefined : workloadFiles(provCert, []);
  const authority = istioAuthority({ ...address, client: shown, clusterId: config.clusterId });
  const { algorithm, pkcs8, trustDomain, ttl, graceRatio: ratio, initialBackOff } = config;
  const token = shown !== undefined && !existsSync(config.token) ? undefined : config.token;
  const issue$ = issueCertificate(authority, { algorithm, pkcs8, token, trustDomain, ttl });
  return caSecrets(issue$, { name: authority.name, ratio, initialBackOff, random: Math.random });
}
