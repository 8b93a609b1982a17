import type { Observable } from 'rxjs';
import type { AppProbe } from '../config/app-probes.ts';
import type { AgentReport } from '../report/agent-report.ts';
import type { EpochsReport } from '../report/epoch-report.ts';
import type { LiveEvent } from '../report/live-events.ts';
import type { ScrapeParts } from './scrape/scrape.ts';

/**
 * The data for the answers of the status port. Each `$` emits its current value at once, on
 * subscribe.
 */
export interface StatusParts extends ScrapeParts {
  /** Why the agent is not ready, not live, not started; undefined if it is. */
  readonly unready$: Observable<string | undefined>;
  readonly unlive$: Observable<string | undefined>;
  readonly unstarted$: Observable<string | undefined>;
  /** Facts that an operator should know, even if the agent is ready. */
  readonly notes$: Observable<readonly string[]>;
  readonly probes: ReadonlyMap<string, AppProbe>;
  /** The hosts of a probe that names none, in the order in which they are tried. */
  readonly probeHosts: readonly string[];
  readonly epochs$: Observable<EpochsReport>;
  /** The status of the agent. */
  readonly report$: Observable<AgentReport>;
  /** The status port shows the log. */
  readonly showsLog: boolean;
  /** The state of the agent as it changes; the log only with `withLog`. */
  readonly live$: (withLog: boolean) => Observable<LiveEvent>;
  /** The status of the sources of configuration, as JSON. */
  readonly sources$: Observable<unknown>;
  /** The configuration, without secrets, as JSON. */
  readonly config$: Observable<unknown>;
  /** The token of clients that may inspect the program; undefined if nobody may. */
  readonly profileToken: string | undefined;
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
  /** Called once, before the first scrape. */
  readonly beforeScrapes: () => void;
  /** Version numbers, by name. */
  readonly version: Readonly<Record<string, string>>;
}
