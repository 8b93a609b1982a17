import { connect, defer, filter, merge, type Observable, of, skip, switchMap, take, takeWhile } from 'rxjs';
import type { AgentConfig } from '../config/agent-config.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { StsParts } from './run-sts.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { ServersSign } from './view.ts';

/**
 * The servers that Envoy talks to beside the agent, as far as they are asked for: of secrets, and of tokens. As {@link asOneServer}. Each is loaded
 * only if it runs. Errors only by a bug.
 */
export function besideEnvoy(plan: SecretsPlan, config: AgentConfig, sts: StsParts): Observable<ServersSign> {
  const notAsked$ = of<ServersSign>({ type: 'servers-listening' });
  const secrets$ = defer(() => import('./run-secrets.ts')).pipe(switchMap((module) => module.runSecrets(plan, config)));
  const tokens$ = defer(() => import('./run-sts.ts')).pipe(switchMap((module) => module.runSts(config, sts)));
  return asOneServer([plan.isServed ? secrets$ : notAsked$, config.stsPort > 0 ? tokens$ : notAsked$]);
}

/**
 * Emits what the servers tell as it comes, but that they listen only once, when all of them do. Completes after the first that fails, and lets go
 * of the others. Cold; errors as they do.
 */
export function asOneServer(servers: readonly Observable<ServersSign>[]): Observable<ServersSign> {
  return merge(...servers).pipe(
    connect((signs$) =>
      merge(
        signs$.pipe(filter(({ type }) => type !== 'servers-listening')),
        signs$.pipe(ofType('servers-listening'), skip(servers.length - 1), take(1)),
      ),
    ),
    takeWhile(({ type }) => type !== 'servers-failed', true),
  );
}
