import type { Observable } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AppProbe } from '../config/app-probes.ts';
import type { MetricsTarget } from '../config/metrics-targets.ts';
import type { MetricFamily } from './metric-family.ts';

/** What the status port answers from. Each `$` emits at once, on subscribe, what holds now. */
export interface StatusParts {
  /** Why the agent is not ready, not live, not started; undefined if it is. */
  readonly unready$: Observable<string | undefined>;
  readonly unlive$: Observable<string | undefined>;
  readonly unstarted$: Observable<string | undefined>;
  /** What should be known of an agent that may be ready all the same. */
  readonly notes$: Observable<readonly string[]>;
  readonly admin: Pick<AdminClient, 'request' | 'open'>;
  readonly probes: ReadonlyMap<string, AppProbe>;
  readonly targets: readonly MetricsTarget[];
  /** The agent's own metrics. */
  readonly families$: Observable<readonly MetricFamily[]>;
  /** What became of the epochs, as JSON. */
  readonly epochs$: Observable<unknown>;
  /** The configuration, without secrets, as JSON can have it. */
  readonly config$: Observable<unknown>;
  /** Version numbers, by name. */
  readonly version: unknown;
}
