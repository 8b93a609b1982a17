import type { TrafficReport } from '../report/live-events.ts';

/** The content of a chart: values over time. */
export interface Series {
  readonly name: string;
  /** Decides the colour: the number of an epoch, or undefined for the agent. */
  readonly epoch: number | undefined;
  readonly points: readonly Point[];
}

export interface Point {
  /** In ms since 1970. */
  readonly at: number;
  /** Undefined: nothing was measured then. */
  readonly value: number | undefined;
}

export interface Charts {
  /** Per second, by epoch. */
  readonly requests: readonly Series[];
  readonly failures: readonly Series[];
  /** Open connections, and requests in flight. */
  readonly connections: readonly Series[];
  /** In bytes, by process. */
  readonly memory: readonly Series[];
  /** In percent of one core, by process. */
  readonly cpu: readonly Series[];
}

/** In ms. If two reports are farther apart, the chart has a gap between them. */
const longestStep = 5_000;

interface Step {
  readonly at: number;
  readonly seconds: number;
  readonly before: TrafficReport;
  readonly now: TrafficReport;
}

/** Returns the content of the charts, from the reports since a time. Pure. */
export function charts(traffic: readonly TrafficReport[], since: number): Charts {
  const steps = traffic.flatMap((now, index): readonly Step[] => {
    const before = traffic[index - 1];
    const time = Date.parse(now.at);
    return before === undefined || time < since
      ? []
      : [{ at: time, seconds: (time - Date.parse(before.at)) / 1000, before, now }];
  });
  const counted = epochsOf(traffic);
  const ran = [
    ...new Map(
      traffic.flatMap(({ processes }) => processes.map(({ epoch }) => [nameOf(epoch), epoch])),
    ).values(),
  ];
  return {
    requests: counted.map((epoch) => series(epoch, steps, rateOf(epoch, 'requests'))),
    failures: counted.map((epoch) => series(epoch, steps, rateOf(epoch, 'failures'))),
    connections: [
      {
        ...series(undefined, steps, ({ now }) =>
          now.epoch === undefined ? undefined : now.connections,
        ),
        name: 'open',
      },
      {
        ...series(0, steps, ({ now }) => (now.epoch === undefined ? undefined : now.active)),
        name: 'in flight',
      },
    ],
    memory: ran.map((epoch) =>
      series(epoch, steps, ({ now }) => processOf(now, epoch)?.residentBytes),
    ),
    cpu: ran.map((epoch) => series(epoch, steps, busy(epoch))),
  };
}

/** Returns whether there is anything to draw: a chart without data takes no space. Pure. */
export function hasData(series: readonly Series[]): boolean {
  return series.some(({ points }) => points.some(({ value }) => value !== undefined));
}

function epochsOf(traffic: readonly TrafficReport[]): readonly number[] {
  return [...new Set(traffic.flatMap(({ byEpoch }) => byEpoch.map(({ epoch }) => epoch)))].sort(
    (left, right) => left - right,
  );
}

const nameOf = (epoch: number | undefined) => (epoch === undefined ? 'agent' : `epoch ${epoch}`);

function series(
  epoch: number | undefined,
  steps: readonly Step[],
  valueOf: (step: Step) => number | undefined,
): Series {
  const points = steps.flatMap((step) =>
    step.seconds * 1000 > longestStep
      ? [{ at: step.at, value: undefined }]
      : [{ at: step.at, value: valueOf(step) }],
  );
  return { name: nameOf(epoch), epoch, points };
}

/** The counts of a new epoch begin at 0. A count that falls has started again: its rate is 0. */
function rateOf(epoch: number, what: 'requests' | 'failures'): (step: Step) => number | undefined {
  const count = ({ byEpoch }: TrafficReport) =>
    byEpoch.find((counts) => counts.epoch === epoch)?.[what];
  return ({ before, now, seconds }) => {
    const counted = count(now);
    if (counted === undefined || seconds <= 0) return undefined;
    return Math.max(0, counted - (count(before) ?? 0)) / seconds;
  };
}

function processOf({ processes }: TrafficReport, epoch: number | undefined) {
  return processes.find(
    (process) => (process.what === 'agent') === (epoch === undefined) && process.epoch === epoch,
  );
}

function busy(epoch: number | undefined): (step: Step) => number | undefined {
  return ({ before, now, seconds }) => {
    const [was, is] = [processOf(before, epoch), processOf(now, epoch)];
    if (is === undefined || was?.pid !== is.pid || seconds <= 0) return undefined;
    return (Math.max(0, is.cpuSeconds - was.cpuSeconds) / seconds) * 100;
  };
}
