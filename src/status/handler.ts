import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import type { AppProbe } from '../config/app-probes.ts';
import type { MetricsTarget } from '../config/metrics-targets.ts';
import type { LogLevel } from '../log/log-line.ts';
import type { AgentReport } from '../report/agent-report.ts';
import type { EpochsReport } from '../report/epoch-report.ts';
import type { LiveEvent } from '../report/live-events.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import type { MetricsLeftOut } from './tell-left-out.ts';
import type { MetricsRefused } from './tell-refused.ts';

/**
 * Answers one request, on subscribe. Emits what the request asks of the agent, if anything, or what
 * it has shown; unsubscribing, which the end of the connection causes, abandons it. An error is
 * answered by 500.
 */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
) => Observable<StatusRequest | MetricsRefused | MetricsLeftOut | ProbeRedirected | ProbeFailed>;

/** Ends an answer: a status, and a line of text if there is something to say. */
export function answer(response: ServerResponse, status: number, body = '', headers: OutgoingHttpHeaders = {}): void {
  const text = body === '' ? '' : `${body}\n`;
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}

/** What somebody asks of the agent by way of the status port. */
export type StatusRequest =
  | { readonly type: 'quit-requested' }
  | { readonly type: 'drain-requested' }
  /** `by`: how, for the log. */
  | { readonly type: 'restart-requested'; readonly by: string }
  | { readonly type: 'level-requested'; readonly level: LogLevel };

/** An application has led a probe to another host, for the first time. */
export interface ProbeRedirected {
  readonly type: 'probe-redirected';
  readonly path: string;
  readonly location: string;
}

/** A probe fails, for another reason than before. */
export interface ProbeFailed {
  readonly type: 'probe-failed';
  readonly path: string;
  readonly reason: string;
}

/** What becomes of the status server, and what is asked of it. */
export type StatusEvent =
  | { readonly type: 'listening' }
  /** It cannot listen. */
  | { readonly type: 'failed'; readonly reason: string }
  /** A probe has found the agent ready, for the first time since the server is there. */
  | { readonly type: 'found-ready' }
  /** The agent has not been ready yet, `forMs` ms after its first Envoy was started. */
  | { readonly type: 'found-unready'; readonly reason: string; readonly forMs: number }
  /** The status socket cannot be listened on. The status port is not affected. */
  | { readonly type: 'socket-failed'; readonly path: string; readonly reason: string }
  /** A request could not be answered. */
  | { readonly type: 'request-failed'; readonly path: string; readonly reason: string }
  | MetricsRefused
  | MetricsLeftOut
  | ProbeRedirected
  | ProbeFailed
  | StatusRequest;

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
  /** Where a probe goes that names no host, in the order in which they are tried. */
  readonly probeHosts: readonly string[];
  readonly targets: readonly Pick<MetricsTarget, 'port' | 'path'>[];
  /** The agent's own metrics. */
  readonly families$: Observable<readonly MetricFamily[]>;
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
