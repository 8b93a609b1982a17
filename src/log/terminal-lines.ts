import pretty from 'pino-pretty';
import { printable } from './printable.ts';

/**
 * Turns the log's objects into lines that a person reads: time, level, where from, epoch, what, and
 * the rest behind it. What a terminal would act on is escaped, and where a message has more lines,
 * they are set in: none looks like a line of its own.
 */
export function terminalLines(destination: NodeJS.WritableStream | { write(text: string): unknown }) {
  return pretty({
    destination: destination as NodeJS.WritableStream,
    colorize: !('NO_COLOR' in process.env),
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    hideObject: true,
    messageFormat: (log, key, _label, { colors }) => {
      const { component, epoch, tail } = log as { component?: string; epoch?: number; tail?: readonly string[] };
      const from = [component, epoch === undefined ? undefined : `epoch ${epoch}`].filter((part) => part !== undefined).join(' ');
      const head = `${from === '' ? '' : `[${from}] `}${String(log[key])}`;
      const last = (tail ?? []).map((line) => `\n${line}`).join('');
      return `${shown(head)}${colors.gray(shown(fields(log)))}${shown(last)}`;
    },
  });
}

function shown(text: string): string {
  return printable(text).replaceAll('\n', '\n      | ');
}

/**
 * What the line has besides, as `name=value`. The code is left out: a person reads the sentence.
 */
function fields(log: Readonly<Record<string, unknown>>): string {
  const others = new Set(['level', 'time', 'event', 'msg', 'component', 'epoch', 'tail']);
  return Object.entries(log)
    .filter(([name]) => !others.has(name))
    .map(([name, value]) => ` ${name}=${quoted(value)}`)
    .join('');
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
