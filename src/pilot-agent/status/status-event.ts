import type { LogLevel } from '../../shared/log/log-line.ts';
import type { ProbeFailed, ProbeRedirected } from './probe/app-probe.ts';
import type { ServerEvent } from '../../shared/http/handler.ts';
import type { MetricsLeftOut } from './scrape/tell-left-out.ts';
import type { MetricsRefused } from './scrape/tell-refused.ts';

/** What somebody asks of the agent by way of the status port. */
export type StatusRequest =
  | { readonly type: 'quit-requested' }
  | { readonly type: 'drain-requested' }
  /** `by`: how, for the log. */
  | { readonly type: 'restart-requested'; readonly by: string }
  | { readonly type: 'level-requested'; readonly level: LogLevel };

/** What requests to the status port ask of the agent, or have shown. */
export type StatusSign =
  StatusRequest | MetricsRefused | MetricsLeftOut | ProbeRedirected | ProbeFailed;

/** What becomes of the status server, and what is asked of it. */
export type StatusEvent =
  | ServerEvent
  | StatusSign
  /** A probe has found the agent ready, for the first time since the server is there. */
  | { readonly type: 'found-ready' }
  /** The agent has not been ready yet, `forMs` ms after its first Envoy was started. */
  | { readonly type: 'found-unready'; readonly reason: string; readonly forMs: number };
