import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';
import type { LiveEvent, LogReport, TrafficReport } from './live-events.ts';
import type { ServiceReport } from './request-report.ts';

export type LiveReport = Omit<AgentReport, 'epochs'>;

/** The state of the stream of events from an agent. `since`: ms since 1970. */
export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'away'; readonly reason: string; readonly since: number };

/** The data from `/debug/events` that is kept. */
export interface AgentView<Line extends LogReport = LogReport> {
  readonly report: LiveReport | undefined;
  /** In the order of their numbers. */
  readonly epochs: readonly EpochReport[];
  /** Oldest first. */
  readonly traffic: readonly TrafficReport[];
  /** Undefined until the first report. */
  readonly service: ServiceReport | undefined;
  /** Oldest first; undefined if the log is not visible. */
  readonly log: readonly Line[] | undefined;
}

/** How much of the data is kept. */
export interface Kept<Line extends LogReport> {
  readonly epochs: number;
  readonly traffic: number;
  /** Up to a tenth more are kept, so that not each new line causes a copy. */
  readonly lines: number;
  /** Returns the part of a line that is kept. */
  readonly lineOf: (line: LogReport) => Line;
}

export const emptyAgentView: AgentView<never> = {
  report: undefined,
  epochs: [],
  traffic: [],
  service: undefined,
  log: undefined,
};

/** Returns the link after a connection was lost, or failed, at `now`. Pure. */
export function awaySince(before: Link, reason: string, now: number): Link {
  return { kind: 'away', reason, since: before.kind === 'away' ? before.since : now };
}

/**
 * Adds one event. A new connection repeats what is known, which changes nothing. After a restart of
 * the agent the data starts empty, because its epochs have the same numbers. Pure.
 */
export function withLiveEvent<Line extends LogReport>(
  before: AgentView<Line>,
  liveEvent: LiveEvent,
  kept: Kept<Line>,
): AgentView<Line> {
  switch (liveEvent.event) {
    case 'report':
      return isSameAgent(before.report, liveEvent.data)
        ? { ...before, report: liveEvent.data }
        : { ...emptyAgentView, report: liveEvent.data };
    case 'epochs':
      return { ...before, epochs: withEpochs(before.epochs, liveEvent.data, kept.epochs) };
    case 'traffic': {
      const traffic = inOrder([...before.traffic, ...liveEvent.data]);
      return { ...before, traffic: traffic.slice(-kept.traffic) };
    }
    case 'service':
      return { ...before, service: liveEvent.data };
    case 'log':
      return { ...before, log: withLines(before.log ?? [], liveEvent.data, kept) };
  }
}

function isSameAgent(before: LiveReport | undefined, { agent }: LiveReport): boolean {
  return (
    before === undefined ||
    (before.agent.pid === agent.pid && before.agent.startedAt === agent.startedAt)
  );
}

/** A newer report of an epoch replaces the older one. */
function withEpochs(
  before: readonly EpochReport[],
  reports: readonly EpochReport[],
  most: number,
): readonly EpochReport[] {
  const byNumber = new Map([...before, ...reports].map((report) => [report.epoch, report]));
  return [...byNumber.values()].sort((left, right) => left.epoch - right.epoch).slice(-most);
}

/**
 * Leaves out each report that is not older than all later ones: it was repeated, or the clock of
 * the agent was set back.
 */
function inOrder(reports: readonly TrafficReport[]): readonly TrafficReport[] {
  const kept: TrafficReport[] = [];
  for (const report of reports.toReversed()) {
    const next = kept.at(-1);
    if (next === undefined || report.at < next.at) kept.push(report);
  }
  return kept.reverse();
}

function withLines<Line extends LogReport>(
  before: readonly Line[],
  reports: readonly LogReport[],
  { lines, lineOf }: Kept<Line>,
): readonly Line[] {
  const last = before.at(-1)?.id ?? -1;
  const joined = before.concat(reports.filter(({ id }) => id > last).map(lineOf));
  return joined.length > lines * 1.1 ? joined.slice(-lines) : joined;
}
