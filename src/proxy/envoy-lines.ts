import { asyncScheduler, Observable, type OperatorFunction, type SchedulerLike } from 'rxjs';
import { isRefusal, withoutConfiguration } from '../shared/log/envoy-refusal.ts';
import type { LogLine } from '../shared/log/log-line.ts';

/** One message of Envoy's log. */
export interface EnvoyLine {
  readonly level: LogLine['level'];
  /** The name of Envoy's logger (`main`, `config`, …); `stderr` for other output. */
  readonly component: string;
  /** Without the line break at its end. Line breaks within a trace stay. */
  readonly message: string;
}

/** `--log-format`: the one of the Go agent 1.6. Its separators are tabs. */
export const envoyLogFormat = '%Y-%m-%dT%T.%fZ\t%l\tenvoy %n\t%v';

const header = /^\d{4}-\d\d-\d\dT[\d:.]+Z\t(\w+)\tenvoy (\S+)\t(.*)$/s;
const levels: ReadonlyMap<string, EnvoyLine['level']> = new Map([
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
]);

/**
 * An access log on `/dev/stderr`: Envoy's default text begins with the start time in brackets, and
 * an entry in JSON is one line.
 */
const accessLog = /^(?:\[\d{4}-\d\d-\d\dT|\{".*\}$)/;

/** A message is complete if nothing more of it comes within this time. In ms. */
const quiet = 20;
const longestLine = 65_536;
const mostLines = 1_000;

/**
 * Cuts the text of Envoy's error stream, in pieces as they come, into messages.
 *
 * A message is emitted when the next one begins, or after 20 ms without more of it: lines that have
 * no header (a trace, a dump) stay with the message before them. The last message is emitted before
 * completion. A line of more than 64 KiB and a message of more than 1,000 lines are cut, so that
 * memory is bounded whatever Envoy writes.
 *
 * A message that refuses the configuration gets the level `debug`, and loses the configuration,
 * which may hold secrets: the agent logs the refusal itself. Such a message lasts until the next
 * header or the end. After it, lines without a header are not emitted.
 */
export function envoyLines(
  scheduler: SchedulerLike = asyncScheduler,
): OperatorFunction<string, EnvoyLine> {
  return (source) =>
    new Observable((subscriber) => {
      const cutter = messageCutter((line) => subscriber.next(line));
      let touched = 0;
      let timer: ReturnType<SchedulerLike['schedule']> | undefined;
      // One timer at a time checks how long it has been quiet: a flood has many pieces.
      const watch = (delay: number) => {
        timer ??= scheduler.schedule(() => {
          timer = undefined;
          const left = quiet - (scheduler.now() - touched);
          if (left > 0) watch(left);
          else if (!cutter.isRefusing()) cutter.end();
        }, delay);
      };
      subscriber.add(() => timer?.unsubscribe());

      subscriber.add(
        source.subscribe({
          next: (piece) => {
            touched = scheduler.now();
            cutter.add(piece);
            if (cutter.isPending()) watch(quiet);
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            cutter.end();
            subscriber.complete();
          },
        }),
      );
    });
}

/** A message that may go on. */
interface PendingMessage {
  readonly line: Omit<EnvoyLine, 'message'>;
  readonly text: string[];
}

/** Cuts pieces of text into messages, and emits each when the next one begins, or at the end. */
function messageCutter(emit: (line: EnvoyLine) => void) {
  let rest = '';
  let pending: PendingMessage | undefined;
  let hasRefused = false;

  const flush = () => {
    const before = pending;
    pending = undefined;
    if (before !== undefined) emit(whole(before));
  };
  const take = (text: string) => {
    const [, level = '', component = '', message = ''] = header.exec(text) ?? [];
    const logLevel = levels.get(level);
    hasRefused ||= logLevel !== undefined && isRefusal(message);
    if (logLevel !== undefined) {
      flush();
      pending = { line: { level: logLevel, component }, text: [message] };
    } else if (pending !== undefined && isRefusal(pending.text[0] ?? '')) {
      pending.text.push(text);
      if (pending.text.length > mostLines) pending.text.splice(1, 1); // its reason is at the beginning or at the end
    } else if (hasRefused) {
      return; // Envoy repeats its refusal, with the configuration, and ends
    } else if (pending === undefined || accessLog.test(text) || pending.text.length >= mostLines) {
      flush();
      if (text !== '') pending = { line: { level: 'info', component: 'stderr' }, text: [text] };
    } else {
      pending.text.push(text);
    }
  };
  /** Takes the parts of a text that is too long for one line, and returns its end. */
  const cut = (text: string) => {
    for (; text.length > longestLine; text = text.slice(longestLine))
      take(text.slice(0, longestLine));
    return text;
  };
  return {
    add(piece: string): void {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(cut(line));
      rest = cut(rest);
    },
    end(): void {
      if (rest !== '') take(rest);
      rest = '';
      flush();
    },
    isPending: () => rest !== '' || pending !== undefined,
    isRefusing: () => isRefusal(pending?.text[0] ?? '') || isRefusal(header.exec(rest)?.[3] ?? ''),
  };
}

/** Returns a complete message, without the configuration that it refuses. */
function whole({ line, text }: PendingMessage): EnvoyLine {
  const message = text.join('\n');
  return isRefusal(message)
    ? { ...line, level: 'debug', message: withoutConfiguration(message) }
    : { ...line, message };
}

/** Each epoch logs this at its start, about the same configuration. */
const repeated =
  'There is no configured limit to the number of allowed active downstream connections';
/** Envoy 1.36 logs these warnings at each hot restart that succeeds. The agent has its own line. */
const ofHotRestart: readonly string[] = [
  'shutting down admin due to child startup',
  'terminating parent process',
];

/**
 * Returns a function that decides whether a message of Envoy is shown. A message that each epoch
 * repeats is shown once. The messages of each hot restart are never shown.
 */
export function toBeShown(): (message: string) => boolean {
  let isShown = false;
  return (message) => {
    if (ofHotRestart.includes(message)) return false;
    if (!message.startsWith(repeated)) return true;
    const isNew = !isShown;
    isShown = true;
    return isNew;
  };
}
