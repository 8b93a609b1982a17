import type { Observable } from 'rxjs';
import type { AppProbe } from '../config/app-probes.ts';
import type { AgentReport } from '../report/agent-report.ts';
import type { EpochsReport } from '../report/epoch-report.ts';
import type { LiveEvent } from '../report/live-events.ts';
import type { ScrapeParts } from './scrape/scrape.ts';

/** What the status port answers from. Each `$` emits at once, on subscribe, what holds now. */
export interface StatusParts extends ScrapeParts {
  /** Why the agent is not ready, not live, not started; undefined if it is. */
  readonly unready$: Observable<string | undefined>;
  readonly unlive$: Observable<string | undefined>;
  readonly unstarted$: Observable<string | undefined>;
  /** What should be known of an agent that may be ready all the same. */
  readonly notes$: Observable<readonly string[]>;
  readonly probes: ReadonlyMap<string, AppProbe>;
  /** Where a probe goes that names no host, in the order in which they are tried. */
  readonly probeHosts: readonly string[];
  readonly epochs$: Observable<EpochsReport>;
  /** How it stands with the agent. */
  readonly report$: Observable<AgentReport>;
  /** The status port shows the log. */
  readonly showsLog: boolean;
  /** What there is to see of the agent as it changes; the log only with `withLog`. */
  readonly live$: (withLog: boolean) => Observable<LiveEvent>;
  /** How it stands with the sources of configuration, as JSON. */
  readonly sources$: Observable<unknown>;
  /** The configuration, without secrets, as JSON can have it. */
  readonly config$: Observable<unknown>;
  /** Whoever has it may look into the program; undefined where nobody may. */
  readonly profileToken: string | undefined;
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
  /** Is called once, before the first scrape. */
  readonly beforeScrapes: () => void;
  /** Version numbers, by name. */
  readonly version: Readonly<Record<string, string>>;
}
