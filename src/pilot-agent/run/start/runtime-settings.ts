import { parseText } from '../../config/parse-text.ts';
import { type Content, contentText, type Contribution, isMap } from '../../sources/contribution.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** The settings that a running Envoy can receive without a new epoch. */
export interface RuntimeSettings {
  /** The level of all loggers; '' for the one that Envoy was started with. */
  readonly logLevel: string;
  /** The levels of single loggers, by their names. */
  readonly componentLogLevels: Readonly<Record<string, string>>;
  /** Values of Envoy's runtime, by their keys. */
  readonly values: Readonly<Record<string, string>>;
}

export const noSettings: RuntimeSettings = { logLevel: '', componentLogLevels: {}, values: {} };

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];
const fields = ['logLevel', 'componentLogLevels', 'runtime'];

/** The settings in a content, or what is wrong with it. */
type Parsed =
  | { readonly ok: true; readonly settings: RuntimeSettings }
  | { readonly ok: false; readonly reason: string };

/**
 * Resolves to the combined settings of all sources of runtime settings; a later source overrides
 * earlier ones. If one of them has a mistake, `flaws` describes it, and there are no settings: the
 * current ones stay.
 */
export async function runtimeSettings(contributions: readonly Contribution[]): Promise<{
  readonly settings: RuntimeSettings | undefined;
  /** By source. */
  readonly flaws: ReadonlyMap<string, string>;
}> {
  const runtimeContributions = contributions.filter(
    ({ use, content }) => use === 'runtime' && content !== undefined,
  );
  const parsed = await Promise.all(
    runtimeContributions.map(async ({ source, content = '' }) => ({
      source,
      ...(await parse(content)),
    })),
  );
  const flaws = new Map(
    parsed.flatMap((result) => (result.ok ? [] : [[result.source, result.reason] as const])),
  );
  const settings = parsed.reduce(
    (lower, result) => (result.ok ? laidOver(lower, result.settings) : lower),
    noSettings,
  );
  return { settings: flaws.size > 0 ? undefined : settings, flaws };
}

function laidOver(
  lower: RuntimeSettings,
  { logLevel, componentLogLevels, values }: RuntimeSettings,
): RuntimeSettings {
  return {
    logLevel: logLevel === '' ? lower.logLevel : logLevel,
    componentLogLevels: { ...lower.componentLogLevels, ...componentLogLevels },
    values: { ...lower.values, ...values },
  };
}

async function parse(content: Content): Promise<Parsed> {
  const read = isMap(content)
    ? ({ ok: true, value: content } as const)
    : await parseText(contentText(content));
  if (!read.ok) return read;
  const { value } = read;
  if (value === null || value === undefined) return { ok: true, settings: noSettings };
  if (!isMap(value)) return flaw(`it is not a map of ${fields.join(', ')}`);
  const { logLevel = '', componentLogLevels = {}, runtime = {}, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined) return flaw(`'${other}' is none of ${fields.join(', ')}`);
  if (logLevel !== '' && !isLevel(logLevel))
    return flaw(`logLevel is none of ${levels.join(', ')}`);
  if (!isMap(componentLogLevels) || !Object.values(componentLogLevels).every(isLevel)) {
    return flaw(`componentLogLevels is not a map of names to one of ${levels.join(', ')}`);
  }
  const isPlain = (setting: unknown) => ['string', 'number', 'boolean'].includes(typeof setting);
  if (!isMap(runtime) || !Object.values(runtime).every(isPlain))
    return flaw('runtime is not a map of keys to texts, numbers or booleans');
  const values = Object.fromEntries(
    Object.entries(runtime).map(([key, setting]) => [key, String(setting)]),
  );
  return {
    ok: true,
    settings: {
      logLevel: String(logLevel),
      componentLogLevels: componentLogLevels as Record<string, string>,
      values,
    },
  };
}

function flaw(reason: string): Parsed {
  return { ok: false, reason };
}

function isLevel(value: unknown): boolean {
  return typeof value === 'string' && levels.includes(value);
}

/** The settings that Envoy has. Null stands for a value that Envoy may have or not. */
export interface AppliedSettings {
  readonly logLevel: string | null;
  readonly componentLogLevels: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string | null>>;
}

/**
 * Returns the requests to an Envoy's admin endpoint, in order, that replace `had` with `wanted`. A
 * level that is no longer wanted goes back to the one that Envoy was started with. Pure.
 */
export function runtimeRequests(
  had: AppliedSettings,
  wanted: RuntimeSettings,
  started: { readonly logLevel: string; readonly componentLogLevel: string },
): readonly string[] {
  const startedLevels =
    started.componentLogLevel === '' ? [] : started.componentLogLevel.split(',');
  const paths = [
    ...startedLevels,
    ...Object.entries(wanted.componentLogLevels).map(([name, level]) => `${name}:${level}`),
  ];
  const level = wanted.logLevel === '' ? started.logLevel : wanted.logLevel;
  const withoutLevels = haveSameLevels(had, wanted);
  const changed = changedKeys(had, wanted);
  const query = (pairs: readonly (readonly [string, string])[]) =>
    new URLSearchParams(Object.fromEntries(pairs)).toString();
  return [
    ...(withoutLevels ? [] : [`/logging?${query([['level', level]])}`]),
    ...(withoutLevels || paths.length === 0
      ? []
      : [`/logging?${query([['paths', paths.join(',')]])}`]),
    // An empty value removes the setting.
    ...(changed.length === 0
      ? []
      : [
          `/runtime_modify?${query(changed.map((key) => [key, ownMember(wanted.values, key) ?? '']))}`,
        ]),
  ];
}

/** Returns the settings of an Envoy that may have received a part of these requests. Pure. */
export function partlyApplied(had: AppliedSettings, wanted: RuntimeSettings): AppliedSettings {
  return {
    ...had,
    logLevel: haveSameLevels(had, wanted) ? had.logLevel : null,
    values: {
      ...had.values,
      ...Object.fromEntries(changedKeys(had, wanted).map((key) => [key, null])),
    },
  };
}

function haveSameLevels(had: AppliedSettings, wanted: RuntimeSettings): boolean {
  return (
    JSON.stringify([had.logLevel, had.componentLogLevels]) ===
    JSON.stringify([wanted.logLevel, wanted.componentLogLevels])
  );
}

function changedKeys(had: AppliedSettings, wanted: RuntimeSettings): readonly string[] {
  return [...new Set([...Object.keys(had.values), ...Object.keys(wanted.values)])].filter(
    (key) => ownMember(had.values, key) !== ownMember(wanted.values, key),
  );
}
