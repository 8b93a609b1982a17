import type { Flag } from '../../shared/text/flag.ts';
import { type FlagName, flags } from './flags.ts';
import type { Layer } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';
import { isOptional } from './proxy-config.ts';
import { parseBoolean } from '../../shared/text/value.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** The flags that may be given more than once. */
type RepeatedFlag = {
  [Name in FlagName]: (typeof flags)[Name] extends { readonly repeated: true } ? Name : never;
}[FlagName];

/** The flags that were given, each with its value, or with all its values if it may be repeated. */
export type GivenFlags = Readonly<
  Partial<Record<Exclude<FlagName, RepeatedFlag>, string> & Record<RepeatedFlag, readonly string[]>>
>;

export interface FlagLayer {
  readonly layer: Layer;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Returns the name of a flag at the place where it is given. */
type Called = (name: FlagName) => string;

/** The effect of a flag: a path in the configuration, and the value in proto JSON. */
interface Setting {
  readonly name: FlagName;
  readonly field: string;
  readonly repeated: true | undefined;
  readonly value: unknown;
}

/**
 * The tracers that flags can name, strongest first: this agent's own, then the order of the Go
 * agent 1.5.
 */
const tracers = ['openTelemetry', 'lightstep', 'zipkin', 'datadog'];
const table = Object.entries<Flag>(flags).map(([name, flag]) => ({
  ...flag,
  name: name as FlagName,
  field: flag.field ?? name,
}));

/**
 * Converts flags to a layer of the configuration, in which each flag is a path: `--zipkinAddress`
 * is `tracing.zipkin.address`. Pure.
 *
 * @param called returns the name of a flag at its place: `--flag`, or another name
 * @param whole the name of the whole layer as a source
 * @param spares as in {@link Layer}
 */
export function flagLayer(
  given: Readonly<Partial<Record<FlagName, unknown>>>,
  called: Called = (name) => `--${name}`,
  whole?: string,
  spares?: (field: string) => boolean,
): FlagLayer {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const givenSettings: Setting[] = [];
  for (const { name, field, value: kind, ignored, repeated } of table) {
    const text = given[name];
    // An empty part of a field counts as not given: templates write all flags of a tracer.
    if (
      text === undefined ||
      text === null ||
      (text === '' && (field.includes('.') || kind === 'json'))
    )
      continue;
    const value = typeof text === 'string' ? valueOf(kind, text) : text;
    if (ignored === true) warnings.push(`${called(name)} has no effect, and is ignored`);
    else if (value === undefined)
      problems.push({
        place: called(name),
        text: `'${text as string}' is not JSON, such as {"address":"host:port"}`,
      });
    else givenSettings.push({ name, field, repeated, value });
  }
  const settings = givenSettings.filter((setting) => {
    const why = withoutEffect(setting, givenSettings, called);
    if (why !== undefined)
      warnings.push(`${called(setting.name)} has no effect ${why}, and is ignored`);
    return why === undefined;
  });

  const content = settings.reduce<Fields>(
    (before, { field, value }) => withValue(before, field.split('.'), value),
    {},
  );
  const source = (field: string) =>
    whole ??
    called(settings.find((setting) => isBelow(setting.field, field))?.name ?? (field as FlagName));
  const place = (path: string) => {
    const flag = [...settings, ...table].find(({ field }) => isBelow(path, field));
    if (flag === undefined) return called(path as FlagName);
    return `${called(flag.name)}${flag.repeated === true ? '' : path.slice(flag.field.length)}`;
  };
  return { layer: { content, source, place, ...(spares && { spares }) }, problems, warnings };
}

/**
 * Converts flags that are given by their variables, which `read` returns. An empty one counts as
 * not given. Pure.
 */
export function variableLayer(read: (variable: string) => string | undefined): FlagLayer {
  const given = table.flatMap(({ name, variable, repeated }) => {
    const text = variable === undefined ? undefined : read(variable);
    return text === undefined || text === ''
      ? []
      : [[name, repeated === true ? text.split(/\s*,\s*/) : text]];
  });
  return flagLayer(
    Object.fromEntries(given) as GivenFlags,
    (name) => `$${(flags[name] as Flag).variable ?? name}`,
    undefined,
    isOptional,
  );
}

/** Returns why a flag has no effect beside the others; undefined if it has one. */
function withoutEffect(
  { field }: Setting,
  givenSettings: readonly Setting[],
  called: Called,
): string | undefined {
  const [top, tracer = ''] = field.split('.');
  if (top !== 'tracing') {
    const whole = givenSettings.find((setting) => field.startsWith(`${setting.field}.`));
    return whole && `beside ${called(whole.name)}`;
  }
  const fields = tracers.flatMap((name) => [
    `tracing.${name}.address`,
    `tracing.${name}.accessToken`,
  ]);
  const strongest = fields.flatMap((path) =>
    givenSettings.filter((setting) => setting.field === path),
  )[0];
  if (strongest === undefined) return 'without an address';
  return strongest.field.startsWith(`tracing.${tracer}.`)
    ? undefined
    : `beside ${called(strongest.name)}`;
}

function isBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}.`) || path.startsWith(`${top}[`);
}

/** Returns undefined for invalid JSON. An invalid boolean is left to the schema. */
function valueOf(kind: string, text: string): unknown {
  if (kind === 'bool') return parseBoolean(text) ?? text;
  if (kind !== 'json') return text;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function withValue(
  content: Fields,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): Fields {
  const inner = ownMember(content, first) as Fields | undefined;
  return { ...content, [first]: rest.length === 0 ? value : withValue(inner ?? {}, rest, value) };
}

/** The role, and the unknown flags, among the arguments that no known flag took. */
export interface ResolvedRole {
  /**
   * The first argument that is neither an unknown flag nor the value of one; `standard` if there is
   * none.
   */
  readonly role: string;
  readonly unknownFlags: readonly string[];
}

const roles: readonly string[] = ['sidecar', 'router'];

/**
 * Finds the role among leftover arguments.
 *
 * Unknown flags are tolerated, as in the Go agent, for newer injection templates; one that looks
 * like a known flag is refused elsewhere. An unknown flag without `=` takes the next token as its
 * value, unless that is a role: the Go agent lost the role there.
 */
export function resolveRole(leftover: readonly string[], standard = 'sidecar'): ResolvedRole {
  const unknownFlags: string[] = [];
  const positionals: string[] = [];
  let mayBeValue = false;
  for (const token of leftover) {
    if (token.startsWith('-')) {
      unknownFlags.push(token.replace(/=.*/s, ''));
      mayBeValue = !token.includes('=');
    } else {
      if (!mayBeValue || roles.includes(token)) positionals.push(token);
      mayBeValue = false;
    }
  }
  return { role: positionals[0] ?? standard, unknownFlags };
}
