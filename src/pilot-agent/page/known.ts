import type { AgentReport } from '../report/agent-report.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import type { ServiceReport } from '../report/request-report.ts';
import type { LiveEvent, LogReport, TrafficReport } from '../report/live-events.ts';

export type Report = Omit<AgentReport, 'epochs'>;

/** How it stands with the stream of events of the agent; `since` by the clock of the agent. */
export type PageLink =
  | { readonly state: 'connecting' }
  | { readonly state: 'connected' }
  | { readonly state: 'away'; readonly reason: string; readonly since: number };

/** What comes of the stream of events; `at` in ms since 1970, by the clock of the browser. */
export type PageMessage =
  | { readonly type: 'connected'; readonly at: number }
  | { readonly type: 'away'; readonly at: number; readonly reason: string }
  | { readonly type: 'told'; readonly at: number; readonly told: LiveEvent };

/** A line of the log with what a search looks at, in lower case. */
export interface Logged extends LogReport {
  readonly text: string;
}

/** All that the page knows of an agent. */
export interface Known {
  readonly link: PageLink;
  readonly report: Report | undefined;
  /** The clock of the agent minus that of the browser, in ms. */
  readonly skew: number;
  /** By their numbers. */
  readonly epochs: readonly EpochReport[];
  /** Oldest first. */
  readonly traffic: readonly TrafficReport[];
  /** Undefined until it is told. */
  readonly service: ServiceReport | undefined;
  /** Oldest first; undefined where the log may not be seen. */
  readonly log: readonly Logged[] | undefined;
}

export const nothing: Known = {
  link: { state: 'connecting' },
  report: undefined,
  skew: 0,
  epochs: [],
  traffic: [],
  service: undefined,
  log: undefined,
};

const mostEpochs = 2_000;
/** An hour. */
const mostTraffic = 3_600;
/** Lines. A tenth more are kept for a while, so that they are not copied for each that goes. */
const mostLines = 100_000;

/** With what has come. Pure. */
export function known(before: Known, message: PageMessage): Known {
  switch (message.type) {
    case 'connected':
      return { ...before, link: { state: 'connected' } };
    case 'away': {
      const since = before.link.state === 'away' ? before.link.since : message.at + before.skew;
      return { ...before, link: { state: 'away', reason: message.reason, since } };
    }
    case 'told':
      return withTold(before, message.told, message.at);
  }
}

function withTold(before: Known, told: LiveEvent, at: number): Known {
  switch (told.event) {
    case 'report': {
      const base = isSameAgent(before.report, told.data)
        ? before
        : { ...nothing, link: before.link };
      return { ...base, report: told.data, skew: Date.parse(told.data.at) - at };
    }
    case 'epochs':
      return { ...before, epochs: withEpochs(before.epochs, told.data) };
    case 'traffic': {
      const last = before.traffic.at(-1)?.at ?? '';
      return {
        ...before,
        traffic: [...before.traffic, ...told.data.filter((one) => one.at > last)].slice(
          -mostTraffic,
        ),
      };
    }
    case 'service':
      return { ...before, service: told.data };
    case 'log':
      return { ...before, log: withLines(before.log ?? [], told.data) };
  }
}

/** After a restart of the agent all begins anew: its epochs have the same numbers. */
function isSameAgent(before: Report | undefined, { agent }: Report): boolean {
  return (
    before === undefined ||
    (before.agent.pid === agent.pid && before.agent.startedAt === agent.startedAt)
  );
}

function withEpochs(
  before: readonly EpochReport[],
  told: readonly EpochReport[],
): readonly EpochReport[] {
  const byNumber = new Map([...before, ...told].map((one) => [one.epoch, one]));
  return [...byNumber.values()].sort((one, other) => one.epoch - other.epoch).slice(-mostEpochs);
}

function withLines(before: readonly Logged[], told: readonly LogReport[]): readonly Logged[] {
  const last = before.at(-1)?.id ?? -1;
  const all = before.concat(
    told.filter(({ id }) => id > last).map((line) => ({ ...line, text: searched(line) })),
  );
  return all.length > mostLines * 1.1 ? all.slice(-mostLines) : all;
}

function searched({ msg, event, component, fields }: LogReport): string {
  return `${msg} ${event} ${component} ${JSON.stringify(fields)}`.toLowerCase();
}
