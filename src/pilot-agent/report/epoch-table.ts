import { changeText } from '../../epochs/causes.ts';
import { span } from '../../shared/log/span.ts';
import type { EpochReport, EpochsReport, ExitReport } from './epoch-report.ts';

/** Writes the epochs for a person, one line each, the newest first. Pure. `now`: ms since 1970. */
export function epochTable(
  { epochs, next, refused, counters, pushes }: EpochsReport,
  now: number,
): string {
  const head = ['EPOCH', 'STATE', 'PID', 'STARTED', 'LIVE AFTER', 'AGE', 'WHY', 'END'];
  const rows = epochs.toReversed().map((epoch) => row(epoch, now));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [
    line(head),
    ...rows.map(line),
    ...(next === undefined ? [] : [`next: epoch ${next.epoch} is ${stages[next.stage]}`]),
    ...(refused === undefined
      ? []
      : [`refused: ${refused.hash}: ${refused.reason.replaceAll('\n', ' ')}`]),
    ...pushes
      .slice(-5)
      .toReversed()
      .map(
        ({ at: pushedAt, secret, version, state, reason }) =>
          `${state} ${pushedAt.slice(0, 19).replace('T', ' ')}: secret ${secret}, version ${version}${reason === undefined ? '' : `: ${reason}`}`,
      ),
    Object.entries(counters)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
  ].join('\n');
}

const stages = {
  waiting: 'waiting for its turn',
  fetching: 'waiting for its configuration',
  checking: 'being checked',
  replacing: 'waiting for the end of the previous epoch',
} as const;

function row(report: EpochReport, now: number): readonly string[] {
  const { epoch, state, answering, pid, launchedAt, endedAt, startMs, lifeMs, exit } = report;
  const age = endedAt === undefined ? now - Date.parse(launchedAt) : lifeMs;
  return [
    String(epoch),
    answering === false ? `${state}, silent` : state,
    pid === undefined ? '' : String(pid),
    launchedAt.slice(0, 19).replace('T', ' '),
    startMs === undefined ? '' : `${startMs} ms`,
    age === undefined ? '' : span(age),
    whyText(report),
    exit === undefined ? '' : exitText(exit),
  ];
}

/** Returns why an epoch was started, in a few words. Pure. */
export function whyText({ why, changed }: Pick<EpochReport, 'why' | 'changed'>): string {
  return changed.length === 0 ? why : `${why}: ${changed.map(changeText).join(', ')}`;
}

/** Returns how an Envoy ended, in a few words. Pure. */
export function exitText({
  kind,
  code,
  signal,
  reason,
  outOfMemory,
  expected,
}: ExitReport): string {
  const how = {
    clean: 'exit 0',
    failed: `exit ${String(code)}`,
    signaled: outOfMemory === true ? `${String(signal)}, out of memory` : String(signal),
    'spawn-failed': `not started: ${String(reason)}`,
    unknown: 'gone',
  }[kind];
  return expected ? how : `crash: ${how}`;
}
