import type { LogLevel } from '../../shared/log/log-line.ts';
import type { ProbeFailed, ProbeRedirected } from './probe/app-probe.ts';
import type { ServerEvent } from '../../shared/http/handler.ts';
import type { MetricsLeftOut } from './scrape/left-out-reporter.ts';
import type { MetricsRefused } from './scrape/refusal-reporter.ts';

/** A request to the agent over the status port. */
export type StatusRequest =
  | { readonly type: 'quit-requested' }
  | { readonly type: 'drain-requested' }
  /** `by`: the origin of the request, for the log. */
  | { readonly type: 'restart-requested'; readonly by: string }
  | { readonly type: 'level-requested'; readonly level: LogLevel };

/** A request to the agent over the status port, or an observation from one. */
export type StatusSign =
  StatusRequest | MetricsRefused | MetricsLeftOut | ProbeRedirected | ProbeFailed;

/** An event of the status server, or a request to it. */
export type StatusEvent =
  | ServerEvent
  | StatusSign
  /** A probe found the agent ready, for the first time since the server listens. */
  | { readonly type: 'found-ready' }
  /** The agent has not been ready yet, `forMs` ms after its first Envoy was started. */
  | { readonly type: 'found-unready'; readonly reason: string; readonly forMs: number };
