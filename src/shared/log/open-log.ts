import { line, type LogLevel, type LogLine } from './log-line.ts';
import { type LogTarget, logTarget } from './log-target.ts';
import type { PinoLog } from './pino-log.ts';

export interface AgentLog {
  /** Never blocks, never throws. */
  write(line: LogLine): void;
  /**
   * Changes the lowest level of the lines that are written. Envoy's lines are always written,
   * because Envoy has its own level.
   */
  level(level: LogLevel): void;
  /** Starts to write lines; until then they wait. */
  open(): void;
  /**
   * Opens again the files that were moved away. If one cannot be opened, logs that and keeps the
   * old one.
   */
  reopen(): void;
  /** Resolves when every line that can be written is written, within a second. */
  close(): Promise<void>;
}

/** How the agent logs. */
export interface LogOptions {
  /** The lowest level. */
  readonly level: LogLevel;
  /** JSON, even on a terminal. */
  readonly json: boolean;
  /**
   * Paths, and `stdout` and `stderr` for the streams; at least one, and no duplicates. Each target
   * gets all lines.
   */
  readonly targets: readonly string[];
}

/**
 * Opens the log: readable text on a terminal, otherwise a JSON object a line. If a target cannot be
 * written, throws an error of one line with the name of the target.
 *
 * If more than 1 MiB waits for a slow reader, further lines are dropped and counted; the count is
 * logged when there is room again. The logger is loaded when the log is opened, so that Envoy need
 * not wait for it.
 *
 * @param component the component in lines about the log itself
 */
export function openLog(
  { level: first, json, targets: names }: LogOptions,
  component: 'agent' | 'discovery',
): AgentLog {
  const targets = names.map(openTarget);
  let level = first;
  const early: LogLine[] = [];
  let write = (line: LogLine): void => void early.push(line);
  let sinks: PinoLog[] = [];
  let done: Promise<void> | undefined;

  const sinkOf = async ({ fd, terminal }: LogTarget) => {
    const { pinoLog } = await import('./pino-log.ts');
    const sink = await pinoLog(fd, terminal && !json, component);
    sink.level(level);
    return sink;
  };
  const start = async () => {
    sinks = await Promise.all(targets.map(sinkOf));
    write = (line) => {
      for (const sink of sinks) sink.write(line);
    };
    for (const line of early.splice(0)) write(line);
  };
  const open = () => (done ??= start().catch(() => void (done = undefined))); // lines wait for the next try
  const reopen = async () => {
    for (const [index, { file }] of targets.entries()) {
      if (file === undefined) continue;
      try {
        const target = logTarget(file);
        const [old, sink] = [sinks[index], await sinkOf(target)];
        targets[index] = target;
        sinks[index] = sink;
        await old?.close();
      } catch (error) {
        const reason = (error as Error).message;
        write(line('log.reopen_failed', { component, path: file, reason }));
      }
    }
  };

  return {
    write: (line) => write(line),
    level(wanted) {
      level = wanted;
      for (const sink of sinks) sink.level(wanted);
    },
    open: () => void open(),
    reopen: () => void (done = open().then(reopen)),
    close: async () => {
      await open();
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

function openTarget(name: string): LogTarget {
  try {
    return logTarget(name);
  } catch (error) {
    throw new Error(`${name} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
