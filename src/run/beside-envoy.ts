import { catchError, combineLatest, defer, map, type Observable, of, switchMap } from 'rxjs';
import type { LogLine } from '../log/log-line.ts';
import { Fatal } from './exit.ts';
import type { StsParts } from './run-sts.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { ServersSign } from './view.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/**
 * The servers that Envoy talks to beside the agent, as far as they are asked for: of secrets, and of tokens. Emits once when all listen, or when one
 * cannot, and they serve until it is unsubscribed. Each is loaded only if it runs. Errors only by a bug.
 */
export function besideEnvoy(plan: SecretsPlan, config: AgentConfig, sts: StsParts): Observable<ServersSign> {
  const log = (line: LogLine) => sts.log({ component: 'secrets', ...line });
  const families$ = plan.isServed
    ? defer(() => import('./run-secrets.ts')).pipe(switchMap((module) => module.runSecrets(plan, config, log)))
    : of(() => []);
  const tokens$ =
    config.stsPort > 0
      ? defer(() => import('./run-sts.ts')).pipe(
          switchMap((module) => module.runSts(config, { ...sts, log: (line) => sts.log({ component: 'sts', ...line }) })),
        )
      : of(undefined);
  return combineLatest({ families: families$, tokens: tokens$ }).pipe(
    map(({ families }): ServersSign => ({ type: 'servers-listening', families })),
    catchError((error: unknown) => {
      if (!(error instanceof Fatal)) throw error;
      return of<ServersSign>({ type: 'servers-failed', reason: error.message });
    }),
  );
}
