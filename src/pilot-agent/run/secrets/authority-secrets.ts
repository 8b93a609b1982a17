import { EMPTY, merge, type Observable } from 'rxjs';
import type { AuthorityAddress } from '../../secrets/ca/authority.ts';
import { type CaEvent, caSecrets } from '../../secrets/ca/ca-secrets.ts';
import { issueCertificate } from '../../secrets/ca/issue-certificate.ts';
import { istioAuthority } from '../../secrets/ca/istio-authority.ts';
import type { SecretsConfig } from '../../config/secrets-config.ts';
import { workloadFiles } from '../../secrets/file-secrets.ts';
import type { SetReading } from '../../secrets/secret.ts';

/**
 * Returns the set that the authority at `address` issues, and the result of each request, as
 * {@link caSecrets} does.
 *
 * @param provisioned the folder of the client certificate for the authority; empty for none
 * @param controlPlane$ emits when the control plane answers again
 */
export function authoritySecrets(
  address: AuthorityAddress,
  provisioned: string,
  {
    clusterId,
    tokenFile,
    algorithm,
    pkcs8,
    trustDomain,
    ttl,
    graceRatio: ratio,
    initialBackOff,
  }: SecretsConfig,
  controlPlane$: Observable<unknown>,
): Observable<SetReading | CaEvent> {
  const clientPair = provisioned === '' ? undefined : workloadFiles(provisioned, []);
  const authority = istioAuthority({ ...address, client: clientPair, clusterId });
  const issue$ = issueCertificate(authority, {
    algorithm,
    pkcs8,
    token: tokenFile,
    client: clientPair,
    trustDomain,
    ttl,
  });
  return caSecrets(issue$, {
    ...{ name: authority.name, ratio, initialBackOff, random: Math.random },
    // An authority that is up but fails may still be starting, together with the control plane: its
    // requests may succeed once the control plane answers.
    back$: (failure) => merge(controlPlane$, failure === 'away' ? authority.reached$ : EMPTY),
  });
}
