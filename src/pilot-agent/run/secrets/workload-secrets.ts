import { resolve } from 'node:path';
import { defer, type Observable, switchMap } from 'rxjs';
import { authorityAddress } from '../../secrets/ca/authority.ts';
import type { CaEvent } from '../../secrets/ca/ca-secrets.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import { fileSecrets } from '../../secrets/file-secrets.ts';
import type { SetReading } from '../../secrets/secret.ts';
import { nodeString } from '../../bootstrap/node-id.ts';
import type { IdentityEvent } from '../../secrets/workload-socket/socket-secrets.ts';
import type { SecretsPlan } from './secrets-plan.ts';

/** A reading of the workload's set, or an event of the program that it comes from. */
export type WorkloadSign = SetReading | CaEvent | IdentityEvent;

/**
 * The readings of a set, and the result of each request if the set comes from an authority; or why
 * there can be no readings.
 */
export type WorkloadSecrets =
  | { readonly ok: true; readonly signs$: Observable<WorkloadSign> }
  | { readonly ok: false; readonly reason: string };

/**
 * Returns the set that contains `default` and `ROOTCA`, from the source in the plan. With an
 * authority, `PROV_CERT` is the client certificate for it. `signs$` is cold, and never completes.
 * On subscribe it loads the code for an authority; it errors if that fails.
 *
 * @param controlPlane$ emits when the control plane answers again
 */
export function workloadSecrets(
  { workload, config }: SecretsPlan,
  agent: AgentConfig,
  controlPlane$: Observable<unknown>,
): WorkloadSecrets {
  if (workload.kind === 'files') {
    const { chain, key, root } = workload.paths;
    return {
      ok: true,
      signs$: fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) }),
    };
  }
  if (workload.kind === 'socket') {
    const names = [agent.secrets.trustDomain, agent.trustDomain];
    const signs$ = defer(() => import('./socket-signs.ts')).pipe(
      switchMap((module) =>
        module.socketSigns(workload.path, {
          nodeId: nodeString(agent.role, agent.node),
          trustDomain: names.find((name) => name !== ''),
        }),
      ),
    );
    return { ok: true, signs$ };
  }
  const { provCert, pilotCertProvider = 'istiod' } = agent;
  const address = authorityAddress(workload.address, pilotCertProvider, provCert);
  if (address === undefined) {
    return {
      ok: false,
      reason: `PILOT_CERT_PROVIDER: '${pilotCertProvider}' is not one of istiod, kubernetes, custom, system`,
    };
  }
  const signs$ = defer(() => import('./authority-secrets.ts')).pipe(
    switchMap((module) => module.authoritySecrets(address, provCert, config, controlPlane$)),
  );
  return { ok: true, signs$ };
}
