import * as z from 'zod/mini';
import { longestTimer } from '../../operators/longest-timer.ts';
import { parseHostPort, portNumber } from './host-port.ts';
import { ownMember } from './own-member.ts';

/** One problem: its place, and what would be right. */
export interface Problem {
  readonly place: string;
  readonly text: string;
}

/** Parses a boolean in the words of Go's `ParseBool`; undefined for any other text. */
export function parseBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  return ['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text) ? false : undefined;
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a Go duration (`45s`, `1m30s`, `1.5h`, `0`) to ms; undefined for any other text. Accepts a
 * sign, as Go does.
 */
export function parseDuration(text: string): number | undefined {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  const parts = [...rest.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)];
  if (rest !== '0' && (parts.length === 0 || parts.map(([part]) => part).join('') !== rest))
    return undefined;
  const ms = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (ownMember(units, unit) ?? 0),
    0,
  );
  const rounded = Math.round(ms * 1e6) / 1e6; // Go counts in ns
  return sign === '-' ? 0 - rounded : rounded;
}

/**
 * Whether a text is a proxy address of Istio: a DNS-1123 name or an IP address (IPv6 in brackets),
 * and a port from 1 to 65535.
 */
function isProxyAddress(text: string): boolean {
  const parts = parseHostPort(text);
  if (parts === undefined || portNumber(parts.port) === undefined) return false;
  const { host, kind, isBracketed } = parts;
  if (isBracketed) return kind === 'ipv6' && !host.includes('%');
  return kind === 'ipv4' || (kind === 'name' && isDnsName(host));
}

/**
 * Whether a text is a DNS name as in Istio: a dot may end it, and its last label is not only
 * digits, because that would be a mistyped IP address.
 */
function isDnsName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  return (
    text.length <= 255 &&
    labels.every((label) => label.length <= 63 && /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  );
}

z.config({ jitless: true }); // a check that runs once is not worth compiling

const percent = 'a number from 0 to 100';
const address = 'host:port, the host a name or an IP address (IPv6 in brackets)';
const hostAndPort = /^(?:\[[^\]]+\]|[^:]+):\d{1,5}$/;
const time = /^\+?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const duration = "a duration (such as '45s' or '1m30s')";

/**
 * The kinds of values, in proto JSON and as the text of a flag. A problem is reported with what
 * would be right, and never with a secret.
 */
export const value = {
  text: textWithoutNul('a text'),
  name: textWithoutNul('a name').check(z.minLength(1, wrong('a name'))),
  secret: z
    .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'is not a text') })
    .check(z.minLength(1, 'is missing')),
  boolean: z.boolean(wrong('true or false')),
  /** `host:port` of a proxy address. */
  address: parsed(address, (text) => (isProxyAddress(text) ? text : undefined), hostAndPort),
  /** The same, or an empty text for none. */
  optionalAddress: parsed(
    address,
    (text) => (text === '' || isProxyAddress(text) ? text : undefined),
    /^(?:(?:\[[^\]]+\]|[^:]+):\d{1,5})?$/,
  ),
  /**
   * The same, in which `$(HOST_IP)` may stand for the address of the machine, as Kubernetes writes
   * it.
   */
  hostAddress: parsed(
    address,
    (text) => (isProxyAddress(text.replace('$(HOST_IP)', '127.0.0.1')) ? text : undefined),
    hostAndPort,
  ),
  port: whole(1, 65_535, 'a port (1 to 65535)'),
  optionalPort: whole(0, 65_535, 'a port (1 to 65535, or 0 for none)'),
  count: whole(0, 2 ** 31 - 1, 'a whole number from 0 on'),
  /** In ms, at most the longest timer. */
  duration: parsed(duration, countable, time),
  /**
   * The same for values that Envoy counts in whole seconds: a fraction is dropped, or counts as a
   * whole second.
   */
  durationDown: parsed(duration, (text) => inSeconds(text, Math.floor), time),
  durationUp: parsed(duration, (text) => inSeconds(text, Math.ceil), time),
  /** The same, but the text stays as it is written, for the control plane. */
  timeText: parsed(duration, (text) => (countable(text) === undefined ? undefined : text), time),
  /** A number from 0 to 100, or its text. */
  percent: converted(z.union([z.number(), z.string()], wrong(percent)), percent, (given) =>
    /^\d+(?:\.\d+)?$/.test(String(given)) ? within(Number(given), 0, 100) : undefined,
  ),
  /** The Go agent accepts no other value for connections to the control plane. */
  connectTimeout: parsed(
    "a duration from '1ms' to '30s'",
    (text) => within(countable(text), 1, 30_000),
    time,
  ),
  /** The values that Envoy accepts for `dns_refresh_rate`. */
  refreshRate: parsed(
    "a duration of more than '1ms'",
    (text) => within(countable(text), 1.000_001, longestTimer),
    time,
  ),
  /** A boolean in a variable. */
  booleanText: parsed('true or false', parseBoolean),
  /** Whole seconds in a variable, in ms. A negative number counts as 0. */
  seconds: parsed('a whole number of seconds', (text) =>
    /^[+-]?\d+$/.test(text) ? Math.min(Math.max(0, Number(text)) * 1000, longestTimer) : undefined,
  ),
  /** A list of texts. */
  texts: z.array(z.string('is not a text'), wrong('a list of texts')),
  /** Names and texts. A name without a text (`null`) has an empty one. */
  textMap: z.record(
    z.string(),
    z.pipe(
      z.nullable(z.string('is not a text: put it in quotes')),
      z.transform((text) => text ?? ''),
    ),
    wrong('a map of texts'),
  ),
  message,
  oneOf,
  listed,
  parsed,
} as const;

/** Accepts a text that a command line or a path can contain: no program gets a NUL in one. */
function textWithoutNul(right: string) {
  return z
    .string(wrong(right))
    .check(z.refine((text) => !text.includes('\0'), { error: 'has a NUL character', abort: true }));
}

/** Accepts a map of known fields; leaves others out. */
function message<T extends z.core.$ZodLooseShape>(fields: T) {
  return z.object(fields, wrong('a map of fields'));
}

/** Accepts a text that `parse` understands. The pattern of such a text is for the JSON Schema. */
function parsed<T>(right: string, parse: (text: string) => T | undefined, pattern?: RegExp) {
  const text = textWithoutNul(right);
  return converted(
    pattern === undefined ? text : text.check(z.regex(pattern, wrong(right))),
    right,
    parse,
  );
}

/** Accepts a whole number, as a number or in decimal digits. */
function whole(from: number, to: number, right: string) {
  const error = wrong(right);
  const number = z.int(error).check(z.gte(from, error), z.lte(to, error));
  const digits = z.string(error).check(z.regex(/^\d+$/, error));
  return converted(z.union([number, digits], error), right, (given) =>
    within(Number(given), from, to),
  );
}

function converted<Input extends z.ZodMiniType, T>(
  input: Input,
  right: string,
  convert: (given: z.output<Input>) => T | undefined,
) {
  return z.pipe(
    input,
    z.transform((given: z.output<Input>, context): T => {
      const result = convert(given);
      if (result !== undefined) return result;
      context.issues.push({ code: 'custom', message: complaint(given, right), input: given });
      return z.NEVER;
    }),
  );
}

/** Accepts a name of an enum, or the number of its place. */
function listed<const T extends readonly string[]>(...names: T) {
  const right = names.join(', ');
  return z.pipe(
    z.union([z.enum(names), z.literal(names.map((_, number) => number))], wrong(`one of ${right}`)),
    z.transform((given): T[number] => (typeof given === 'number' ? (names[given] ?? '') : given)),
  );
}

/** Accepts one of some texts. */
function oneOf<const T extends readonly string[]>(...texts: T) {
  return z.enum(texts, wrong(`one of ${texts.filter((text) => text !== '').join(', ')}`));
}

function countable(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= 0 ? Math.min(ms, longestTimer) : undefined;
}

function inSeconds(text: string, round: (seconds: number) => number): number | undefined {
  const ms = countable(text);
  return ms === undefined
    ? undefined
    : Math.min(round(ms / 1_000), Math.floor(longestTimer / 1_000)) * 1_000;
}

function within(number: number | undefined, from: number, to: number): number | undefined {
  return number !== undefined && number >= from && number <= to ? number : undefined;
}

function wrong(right: string) {
  return { error: ({ input }: { readonly input?: unknown }) => complaint(input, right) };
}

function complaint(input: unknown, right: string): string {
  if (input === undefined) return `is missing: it has to be ${right}`;
  return `${shown(input)} is not ${right}`;
}

function shown(input: unknown): string {
  if (typeof input === 'string') return `'${input.length > 80 ? `${input.slice(0, 80)}…` : input}'`;
  if (typeof input !== 'object' || input === null) return String(input);
  return Array.isArray(input) ? 'a list' : 'a map';
}
