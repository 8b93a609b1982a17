import type { ProcessReport, TrafficReport } from '../report/live-events.ts';

const blocks = '▁▂▃▄▅▆▇█';

/** The rates between two reports of the traffic. */
export interface Rate {
  /** ISO 8601. */
  readonly at: string;
  /** Per second. */
  readonly requests: number;
  readonly failures: number;
}

/** Returns how much the counts grew per second, between each two reports. Pure. */
export function ratesOf(traffic: readonly TrafficReport[]): readonly Rate[] {
  return traffic.slice(1).map((report, index) => {
    const before = traffic[index] ?? report;
    return {
      at: report.at,
      requests: perSecond(before.requests, report.requests, before, report),
      failures: perSecond(before.failures, report.failures, before, report),
    };
  });
}

/**
 * Returns the newest rate of an epoch; undefined if one of the last two reports has no counts of
 * it. Pure.
 */
export function rateOf(
  epoch: number,
  traffic: readonly TrafficReport[],
): Omit<Rate, 'at'> | undefined {
  const [before, report] = traffic.slice(-2);
  const [from, to] = [before, report].map((sample) =>
    sample?.byEpoch.find((counts) => counts.epoch === epoch),
  );
  if (before === undefined || report === undefined || from === undefined || to === undefined)
    return undefined;
  return {
    requests: perSecond(from.requests, to.requests, before, report),
    failures: perSecond(from.failures, to.failures, before, report),
  };
}

/**
 * Returns the memory of these processes in bytes, and their share of a CPU; 1 is a whole CPU. Pure.
 */
export function loadOf(
  traffic: readonly TrafficReport[],
  isCounted: (process: ProcessReport) => boolean,
): { readonly bytes: number; readonly cpu: number } {
  const [before, report] = traffic.length < 2 ? [undefined, traffic.at(-1)] : traffic.slice(-2);
  const now = (report?.processes ?? []).filter(isCounted);
  const used = now.map(({ pid, cpuSeconds }) => {
    const then = before?.processes.find((process) => process.pid === pid);
    return then === undefined || before === undefined || report === undefined
      ? 0
      : perSecond(then.cpuSeconds, cpuSeconds, before, report);
  });
  return { bytes: sum(now.map(({ residentBytes }) => residentBytes)), cpu: sum(used) };
}

/** Draws the newest `width` numbers as bars side by side, relative to the largest one. Pure. */
export function sparkline(numbers: readonly number[], width: number): string {
  const shown = numbers.slice(-Math.max(1, width));
  const most = Math.max(...shown, Number.MIN_VALUE);
  return shown
    .map(
      (number) =>
        blocks[Math.min(blocks.length - 1, Math.ceil((number / most) * (blocks.length - 1)))] ??
        ' ',
    )
    .join('');
}

/** A count that falls has started again at 0. Its rate is then 0. */
function perSecond(from: number, to: number, before: TrafficReport, report: TrafficReport): number {
  const seconds = (Date.parse(report.at) - Date.parse(before.at)) / 1_000;
  return seconds > 0 ? Math.max(0, to - from) / seconds : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
