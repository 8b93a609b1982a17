import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';
import type { LiveEvent, LogReport, TrafficReport } from './live-events.ts';
import type { ServiceReport } from './request-report.ts';

export type LiveReport = Omit<AgentReport, 'epochs'>;

/** How it stands with the stream of events of an agent. `since`: ms since 1970. */
export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'away'; readonly reason: string; readonly since: number };

/** All that an agent has told over `/debug/events`, as far as it is kept. */
export interface Heard<Line extends LogReport = LogReport> {
  readonly report: LiveReport | undefined;
  /** By their numbers. */
  readonly epochs: readonly EpochReport[];
  /** Oldest first. */
  readonly traffic: readonly TrafficReport[];
  /** Undefined until it is told. */
  readonly service: ServiceReport | undefined;
  /** Oldest first; undefined where the log may not be seen. */
  readonly log: readonly Line[] | undefined;
}

/** How much is kept of it. */
export interface Kept<Line extends LogReport> {
  readonly epochs: number;
  readonly traffic: number;
  /** A tenth more are kept for a while, so that they are not copied for each that goes. */
  readonly lines: number;
  /** What is kept of a line. */
  readonly lineOf: (line: LogReport) => Line;
}

export const nothingHeard: Heard<never> = {
  report: undefined,
  epochs: [],
  traffic: [],
  service: undefined,
  log: undefined,
};

/** What is known after a connection was lost, or could not be made, at `now`. Pure. */
export function awaySince(before: Link, reason: string, now: number): Link {
  return { kind: 'away', reason, since: before.kind === 'away' ? before.since : now };
}

/**
 * With one more event. A new connection tells again what is known, which changes nothing; after a
 * restart of the agent all begins anew, for its epochs have the same numbers. Pure.
 */
export function heard<Line extends LogReport>(
  before: Heard<Line>,
  told: LiveEvent,
  kept: Kept<Line>,
): Heard<Line> {
  switch (told.event) {
    case 'report':
      return isSameAgent(before.report, told.data)
        ? { ...before, report: told.data }
        : { ...nothingHeard, report: told.data };
    case 'epochs':
      return { ...before, epochs: withEpochs(before.epochs, told.data, kept.epochs) };
    case 'traffic': {
      const last = before.traffic.at(-1)?.at ?? '';
      const news = told.data.filter(({ at }) => at > last);
      return { ...before, traffic: [...before.traffic, ...news].slice(-kept.traffic) };
    }
    case 'service':
      return { ...before, service: told.data };
    case 'log':
      return { ...before, log: withLines(before.log ?? [], told.data, kept) };
  }
}

function isSameAgent(before: LiveReport | undefined, { agent }: LiveReport): boolean {
  return (
    before === undefined ||
    (before.agent.pid === agent.pid && before.agent.startedAt === agent.startedAt)
  );
}

/** A newer word of an epoch takes the place of the older one. */
function withEpochs(
  before: readonly EpochReport[],
  told: readonly EpochReport[],
  most: number,
): readonly EpochReport[] {
  const byNumber = new Map([...before, ...told].map((one) => [one.epoch, one]));
  return [...byNumber.values()].sort((one, other) => one.epoch - other.epoch).slice(-most);
}

function withLines<Line extends LogReport>(
  before: readonly Line[],
  told: readonly LogReport[],
  { lines, lineOf }: Kept<Line>,
): readonly Line[] {
  const last = before.at(-1)?.id ?? -1;
  const all = before.concat(told.filter(({ id }) => id > last).map(lineOf));
  return all.length > lines * 1.1 ? all.slice(-lines) : all;
}
