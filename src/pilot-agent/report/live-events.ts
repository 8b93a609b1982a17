import { parseJson } from '../../shared/text/parse-json.ts';
import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';
import type { ServiceReport } from './request-report.ts';

/** A process of the agent or of one of its Envoys, at one moment. */
export interface ProcessReport {
  readonly what: 'agent' | 'envoy';
  /** Of an Envoy. */
  readonly epoch?: number;
  readonly pid: number;
  readonly residentBytes: number;
  /** User and system time since its start, in s. */
  readonly cpuSeconds: number;
}

/** What Envoy has done until a moment. Counts only grow, over all epochs. */
export interface TrafficReport {
  readonly at: string;
  /** The epoch that was asked; undefined where none answered. */
  readonly epoch?: number;
  /**
   * HTTP requests that were answered since the first look; of listeners without HTTP connections,
   * where Envoy counts them.
   */
  readonly requests: number;
  /** Those of them that were answered with 5xx. */
  readonly failures: number;
  /** Connections of clients that are open now. */
  readonly connections: number;
  /** Requests in flight now. */
  readonly active: number;
  /** Of the epochs that have served while somebody looked. */
  readonly byEpoch: readonly {
    readonly epoch: number;
    readonly requests: number;
    readonly failures: number;
  }[];
  readonly processes: readonly ProcessReport[];
}

/** A line of the log. */
export interface LogReport {
  /** Numbers the lines of this agent. */
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
 * What `/debug/events` sends, as server-sent events: the name of each is `event`, its data the JSON
 * of `data`. First all of what is known now, then what changes.
 */
export type LiveEvent =
  /** At once, and after each change, at most 5 times a second. */
  | { readonly event: 'report'; readonly data: Omit<AgentReport, 'epochs'> }
  /** At once those that are kept, then each that is new or has changed. The number names it. */
  | { readonly event: 'epochs'; readonly data: readonly EpochReport[] }
  /** At once those of the last ten minutes in which somebody looked, then one a second. */
  | { readonly event: 'traffic'; readonly data: readonly TrafficReport[] }
  /** What Envoy says of its service: at once, then every 5 s. */
  | { readonly event: 'service'; readonly data: ServiceReport }
  /** At once the newest lines, then each. Only where the log may be seen. */
  | { readonly event: 'log'; readonly data: readonly LogReport[] };

const names: ReadonlySet<string> = new Set<LiveEvent['event']>([
  'report',
  'epochs',
  'traffic',
  'service',
  'log',
]);

/**
 * The event of `/debug/events` that a server-sent event is; none if its name is not known, for a
 * newer agent may say more. Throws if its data is no JSON.
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
