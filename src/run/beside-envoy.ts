import { combineLatest, defer, type Observable, of, switchMap } from 'rxjs';
import type { LogLine } from '../log/log-line.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { StsParts } from './run-sts.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/** What the servers that Envoy needs beside the agent have to tell. */
export interface BesideEnvoy {
  /** Makes the metrics of the secrets, as they are now. */
  readonly families: () => readonly MetricFamily[];
}

/**
 * The servers that Envoy talks to beside the agent, as far as they are asked for: of secrets, and of tokens. Emits once when all listen, and they serve until it is
 * unsubscribed. Each is loaded only if it runs. Never completes; errors as they do.
 */
export function besideEnvoy(plan: SecretsPlan, config: AgentConfig, sts: StsParts): Observable<BesideEnvoy> {
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
  return combineLatest({ families: families$, tokens: tokens$ });
}
