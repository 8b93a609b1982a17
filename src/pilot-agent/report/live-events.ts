import { parseJson } from '../../shared/text/parse-json.ts';
import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';
import type { ServiceReport } from './request-report.ts';

/** A process of the agent or of one of its Envoys, at one moment. */
export interface ProcessReport {
  readonly what: 'agent' | 'envoy';
  /** The epoch of an Envoy. */
  readonly epoch?: number;
  readonly pid: number;
  readonly residentBytes: number;
  /** User and system time since its start, in s. */
  readonly cpuSeconds: number;
}

/** The traffic of Envoy up to a moment. Counts only grow, over all epochs. */
export interface TrafficReport {
  readonly at: string;
  /** The epoch that was asked; undefined if none answered. */
  readonly epoch?: number;
  /**
   * HTTP requests that were answered since the traffic was first measured; for listeners without
   * HTTP, connections, if Envoy counts them.
   */
  readonly requests: number;
  /** The requests that were answered with 5xx. */
  readonly failures: number;
  /** Open connections of clients. */
  readonly connections: number;
  /** Requests in flight. */
  readonly active: number;
  /** The epochs that served while somebody was subscribed. */
  readonly byEpoch: readonly {
    readonly epoch: number;
    readonly requests: number;
    readonly failures: number;
  }[];
  readonly processes: readonly ProcessReport[];
}

/** A line of the log. */
export interface LogReport {
  /** The number of the line in this agent's log. */
  readonly id: number;
  readonly at: string;
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly component: string;
  readonly epoch?: number;
  readonly event: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * An event that `/debug/events` sends, as a server-sent event: its name is `event`, its data the
 * JSON of `data`. First come events for all of the current state, then its changes.
 */
export type LiveEvent =
  /** At once, and after each change, at most 5 times a second. */
  | { readonly event: 'report'; readonly data: Omit<AgentReport, 'epochs'> }
  /** At once the epochs that are kept, then each new or changed epoch, identified by its number. */
  | { readonly event: 'epochs'; readonly data: readonly EpochReport[] }
  /** At once those of the last ten minutes in which somebody was subscribed, then one a second. */
  | { readonly event: 'traffic'; readonly data: readonly TrafficReport[] }
  /** Envoy's report of its service: at once, then every 5 s. */
  | { readonly event: 'service'; readonly data: ServiceReport }
  /** At once the newest lines, then each new one. Only if the log is visible. */
  | { readonly event: 'log'; readonly data: readonly LogReport[] };

const names: ReadonlySet<string> = new Set<LiveEvent['event']>([
  'report',
  'epochs',
  'traffic',
  'service',
  'log',
]);

/**
 * Returns the event of `/debug/events` in a server-sent event; none if its name is unknown, because
 * a newer agent may send more. Throws if its data is not JSON.
 */
export function liveEventOf({
  event,
  data,
}: {
  readonly event: string;
  readonly data: string;
}): readonly LiveEvent[] {
  return names.has(event) ? [{ event, data: parseJson(data) } as LiveEvent] : [];
}
