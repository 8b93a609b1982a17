import { asyncScheduler, concat, defer, filter, map, type Observable, of, Subject } from 'rxjs';
import type { AgentLog } from '../../shared/log/open-log.ts';
import type { LogLine } from '../../shared/log/log-line.ts';
import { isoTime } from '../report/epoch-report.ts';
import type { LogReport } from '../report/live-events.ts';

/** The number of lines that are kept for later readers. */
const mostLines = 500;

/** A log whose newest lines can be read. */
export interface TappedLog extends AgentLog {
  /**
   * Emits the newest lines at once, then each line as it is written. Hot; never errors, never
   * completes.
   */
  readonly lines$: Observable<readonly LogReport[]>;
}

/** Keeps the newest lines of a log, whatever its level. The log itself works as before. */
export function tapLog(log: AgentLog): TappedLog {
  const later$ = new Subject<LogReport>();
  const lines: (readonly [id: number, at: number, line: LogLine])[] = [];
  let id = 0;
  return {
    ...log,
    write(line) {
      log.write(line);
      const numbered = [(id += 1), asyncScheduler.now(), line] as const;
      lines.push(numbered);
      if (lines.length > mostLines) lines.shift();
      if (later$.observed) later$.next(report(numbered));
    },
    lines$: concat(
      defer(() => of(lines.map(report))).pipe(filter(({ length }) => length > 0)),
      later$.pipe(map((line) => [line])),
    ),
  };
}

function report([id, time, line]: readonly [number, number, LogLine]): LogReport {
  const { level, event, msg, component, epoch, ...fields } = line;
  const where = typeof component === 'string' ? component : 'agent';
  return {
    id,
    at: isoTime(time),
    level,
    component: where,
    ...(typeof epoch === 'number' && { epoch }),
    event,
    msg,
    fields,
  };
}
