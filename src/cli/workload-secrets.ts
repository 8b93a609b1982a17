import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Observable } from 'rxjs';
import { authorityAddress } from '../ca/authority-address.ts';
import type { CaEvent } from '../ca/ca-event.ts';
import { caSecrets } from '../ca/ca-secrets.ts';
import { issueCertificate } from '../ca/issue-certificate.ts';
import { istioAuthority } from '../ca/istio-authority.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { SecretsConfig } from '../config/secrets-config.ts';
import { fileSecrets } from '../secrets/file-secrets.ts';
import type { SetReading } from '../secrets/secret.ts';
import { workloadFiles } from '../secrets/workload-files.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/**
 * Where `default` and `ROOTCA` come from: an authority if there is one to ask, and no pair in files that somebody has mounted for this workload; else files.
 * `PROV_CERT` beside an authority is what the agent shows the authority.
 */
export function workloadSecrets(config: SecretsConfig, { certificates: [server, client] }: AgentConfig): Observable<SetReading | CaEvent> {
  const sides = [
    ...(server === undefined ? [] : [{ ...server, isNamed: config.namesServer }]),
    ...(client === undefined ? [] : [{ ...client, isNamed: config.namesClient }]),
  ];
  const mayAsk = config.caAddress !== '' && !config.fileMounted;
  const mounted = workloadFiles(mayAsk ? '' : config.provisioned, sides);
  if (!mayAsk || (existsSync(mounted.chain) && existsSync(mounted.key))) {
    const { chain, key, root } = mounted;
    return fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) });
  }
  const address = authorityAddress(config.caAddress, config.certProvider, config.provisioned);
  if (address === undefined) {
    throw new Fatal(`PILOT_CERT_PROVIDER: '${config.certProvider}' is not one of istiod, kubernetes, custom, system`, exitCodes.config);
  }
  const shown = config.provisioned === '' ? undefined : workloadFiles(config.provisioned, []);
  const authority = istioAuthority({ ...address, client: shown, clusterId: config.clusterId });
  const { algorithm, pkcs8, trustDomain, ttl, graceRatio: ratio, initialBackOff } = config;
  const token = shown !== undefined && !existsSync(config.token) ? undefined : config.token;
  const issue$ = issueCertificate(authority, { algorithm, pkcs8, token, trustDomain, ttl });
  return caSecrets(issue$, { name: authority.name, ratio, initialBackOff, random: Math.random });
}
