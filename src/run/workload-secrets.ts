import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Observable } from 'rxjs';
import { authorityAddress } from '../ca/authority.ts';
import { type CaEvent, caSecrets } from '../ca/ca-secrets.ts';
import { issueCertificate } from '../ca/issue-certificate.ts';
import { istioAuthority } from '../ca/istio-authority.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { fileSecrets, workloadFiles } from '../secrets/file-secrets.ts';
import type { SetReading } from '../secrets/secret.ts';
import type { SecretsPlan } from './secrets-plan.ts';

/**
 * The readings of a set, with what became of each request to an authority if it comes from one; or
 * why there can be none.
 */
export type WorkloadSecrets =
  { readonly ok: true; readonly signs$: Observable<SetReading | CaEvent> } | { readonly ok: false; readonly reason: string };

/**
 * The set that `default` and `ROOTCA` are of, from where the plan says. `PROV_CERT` beside an
 * authority is what the agent shows the authority. `signs$` is cold, never completes and never
 * errors.
 */
export function workloadSecrets(
  { workload, config }: SecretsPlan,
  { provCert, pilotCertProvider = 'istiod' }: Pick<AgentConfig, 'provCert' | 'pilotCertProvider'>,
): WorkloadSecrets {
  if (workload.kind === 'files') {
    const { chain, key, root } = workload.paths;
    return { ok: true, signs$: fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) }) };
  }
  const address = authorityAddress(workload.address, pilotCertProvider, provCert);
  if (address === undefined) {
    return { ok: false, reason: `PILOT_CERT_PROVIDER: '${pilotCertProvider}' is not one of istiod, kubernetes, custom, system` };
  }
  const shown = provCert === '' ? undefined : workloadFiles(provCert, []);
  const authority = istioAuthority({ ...address, client: shown, clusterId: config.clusterId });
  const { algorithm, pkcs8, trustDomain, ttl, graceRatio: ratio, initialBackOff } = config;
  const token = shown !== undefined && !existsSync(config.tokenFile) ? undefined : config.tokenFile;
  const issue$ = issueCertificate(authority, { algorithm, pkcs8, token, trustDomain, ttl });
  return { ok: true, signs$: caSecrets(issue$, { name: authority.name, ratio, initialBackOff, random: Math.random }) };
}
