import pretty from 'pino-pretty';
import { hasColours } from './paint.ts';
import { printable } from './printable.ts';
import { ownMember } from '../text/own-member.ts';

/**
 * Turns the log's objects into lines for a person: time, level, component, epoch, message, and the
 * other fields. Escapes every character that a terminal would act on. Indents the further lines of
 * a message, so that none looks like a separate line. The component and the fields after the
 * message have colours, if `env` allows them on a terminal.
 */
export function terminalLines(
  destination: NodeJS.WritableStream | { write(text: string): unknown },
  env: NodeJS.ProcessEnv = process.env,
) {
  return pretty({
    destination: destination as NodeJS.WritableStream,
    colorize: hasColours({ isTTY: true }, env),
    customColors: 'message:reset', // not one colour for the whole line, as is usual there
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

/** Returns the colour of a component: of Envoy, of the agent, or of a part around it. */
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
 * Returns the other fields of the line, as `name=value`. Leaves the code out: a person reads the
 * message.
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
