import pretty from 'pino-pretty';
import { hasColours } from './paint.ts';
import { printable } from './printable.ts';
import { ownMember } from '../text/own-member.ts';

/**
 * Turns the log's objects into lines that a person reads: time, level, where from, epoch, what, and
 * the rest behind it. What a terminal would act on is escaped, and where a message has more lines,
 * they are set in: none looks like a line of its own. Where a line is from has a colour, and what
 * is behind the message another one, if `env` lets a terminal have any.
 */
export function terminalLines(
  destination: NodeJS.WritableStream | { write(text: string): unknown },
  env: NodeJS.ProcessEnv = process.env,
) {
  return pretty({
    destination: destination as NodeJS.WritableStream,
    colorize: hasColours({ isTTY: true }, env),
    customColors: 'message:reset', // not one colour over all, as is usual there
    useOnlyCustomProps: false,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    hideObject: true,
    messageFormat: (log, key, _label, { colors }) => {
      const { component, epoch, tail = [], excerpt } = log as Shown;
      const from = [component, epoch === undefined ? undefined : `epoch ${epoch}`]
        .filter((part) => part !== undefined)
        .join(' ');
      const head = from === '' ? '' : `${colors[colourOf(component)](shown(`[${from}]`))} `;
      const last = [...(excerpt === undefined ? [] : [excerpt]), ...tail]
        .map((line) => `\n${line}`)
        .join('');
      return `${head}${shown(String(ownMember(log, key)))}${colors.gray(shown(fields(log)))}${shown(last)}`;
    },
  });
}

/** The agent decides, Envoy serves, and the rest of the agent surrounds it. */
function colourOf(component = ''): 'cyan' | 'magenta' | 'blue' {
  if (component.startsWith('envoy.')) return 'magenta';
  return component === 'agent' ? 'cyan' : 'blue';
}

interface Shown {
  readonly component?: string;
  readonly epoch?: number;
  readonly tail?: readonly string[];
  /** Some lines of a text, the last with a caret. */
  readonly excerpt?: string;
}

function shown(text: string): string {
  return printable(text).replaceAll('\n', '\n      | ');
}

/**
 * What the line has besides, as `name=value`. The code is left out: a person reads the sentence.
 */
function fields(log: Readonly<Record<string, unknown>>): string {
  const others = new Set([
    'level',
    'time',
    'event',
    'msg',
    'component',
    'epoch',
    'tail',
    'excerpt',
  ]);
  return Object.entries(log)
    .filter(([name]) => !others.has(name))
    .map(([name, value]) => ` ${name}=${quoted(value)}`)
    .join('');
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
