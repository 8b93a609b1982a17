import type { LogLevel } from './log-line.ts';
import type { LogOptions } from './open-log.ts';
import { type LogFlagName, logFlags } from './log-flags.ts';
import { parseBoolean } from '../text/value.ts';
import type { Problem } from '../text/value.ts';

const levels = logFlags.log_output_level.choices satisfies readonly LogLevel[];

/** The given logging flags, each with its value, or with all its values if it was repeated. */
export type GivenLogFlags = Readonly<Partial<Record<LogFlagName, string | readonly string[]>>>;

export type ResolvedLogOptions =
  | { readonly ok: true; readonly options: LogOptions; readonly warnings: readonly string[] }
  /** `options` has the default instead of each wrong value. */
  | { readonly ok: false; readonly options: LogOptions; readonly problems: readonly Problem[] };

/**
 * Returns the log options of the given flags; or all their problems.
 *
 * A flag that has no effect here causes a warning, because it must not prevent a start. So does a
 * flag with a wrong level: then the default applies. Pure.
 *
 * @param called returns the name of a flag for messages
 */
export function logOptions(
  given: GivenLogFlags,
  called = (flag: LogFlagName) => `--${flag}`,
): ResolvedLogOptions {
  const texts = textsOf(given);
  const paths = targetsOf(texts).filter((path) => path !== '');
  const level = levelOf(texts.last('log_output_level'));
  const flaws = levelFlaws(texts, called);
  const options = {
    level: level.level,
    json: parseBoolean(texts.last('log_as_json')) ?? false,
    targets: paths.length > 0 ? paths : [logFlags.log_target.default],
  };
  const problems = [...flaws.filter(({ isWarning }) => !isWarning), ...valueFlaws(texts)].map(
    ({ flag, text }) => ({ place: called(flag), text }),
  );
  if (problems.length > 0) return { ok: false, options, problems };
  const warnings = [
    ...flaws.map(({ flag, text }) => `${called(flag)}: ${text}: it is ignored`),
    ...level.warnings,
    ...effectless(texts),
  ];
  return { ok: true, options, warnings };
}

/** The values of each flag, or its default. */
interface FlagTexts {
  readonly all: (flag: LogFlagName) => readonly string[];
  readonly last: (flag: LogFlagName) => string;
}

function textsOf(given: GivenLogFlags): FlagTexts {
  const all = (flag: LogFlagName): readonly string[] => {
    const values = [given[flag] ?? []].flat();
    return values.length > 0 ? values : [logFlags[flag].default];
  };
  return { all, last: (flag) => all(flag).at(-1) ?? '' };
}

interface FlagFlaw {
  readonly flag: LogFlagName;
  readonly text: string;
}

/** Returns the parts of flags that are not levels. */
function levelFlaws(
  { last }: FlagTexts,
  called: (flag: LogFlagName) => string,
): readonly (FlagFlaw & { readonly isWarning: boolean })[] {
  return (['log_output_level', 'log_stacktrace_level'] as const).flatMap((flag) =>
    scopedLevels(last(flag))
      .filter(({ level }) => level === undefined)
      .map(({ text }) => ({
        flag,
        text: `'${text}' is not level or scope:level; levels are ${levels.join(', ')}`,
        // An injector writes the flag from an annotation of the pod; a person writes a file.
        isWarning: called(flag) === `--${flag}`,
      })),
  );
}

function valueFlaws(texts: FlagTexts): readonly FlagFlaw[] {
  const json = texts.last('log_as_json');
  const numbers = ['log_rotate_max_age', 'log_rotate_max_size', 'log_rotate_max_backups'] as const;
  return [
    ...(parseBoolean(json) === undefined
      ? [{ flag: 'log_as_json', text: `'${json}' is not true or false` } as const]
      : []),
    ...(targetsOf(texts).includes('')
      ? [{ flag: 'log_target', text: "'' is not a path, stdout or stderr" } as const]
      : []),
    ...numbers
      .filter((flag) => !/^[+-]?\d+$/.test(texts.last(flag)))
      .map((flag) => ({ flag, text: `'${texts.last(flag)}' is not a whole number` })),
  ];
}

function targetsOf({ all }: FlagTexts): readonly string[] {
  return [...new Set(all('log_target'))];
}

/**
 * Returns the level of the agent's scopes: the last one counts, but scopes after `all` do not. Also
 * returns warnings about other scopes.
 */
function levelOf(text: string): { readonly level: LogLevel; readonly warnings: readonly string[] } {
  const parts = scopedLevels(text);
  const end = parts.findIndex(({ scope }) => scope === 'all');
  const read = end < 0 ? parts : parts.slice(0, end + 1);
  const isOwn = ({ scope }: ScopedLevel) => scope === 'default' || scope === 'all';
  return {
    level: read.findLast((part) => isOwn(part) && part.level !== undefined)?.level ?? 'info',
    warnings: read
      .filter((part) => !isOwn(part))
      .map(({ scope }) => `--log_output_level: there is no scope ${scope}: its level is ignored`),
  };
}

/** Returns the warnings about flags that have no effect here. */
function effectless({ last }: FlagTexts): readonly string[] {
  return [
    ...(last('log_caller') === ''
      ? []
      : ['--log_caller is ignored: a line of the log names its component instead']),
    ...(scopedLevels(last('log_stacktrace_level')).every(({ level }) => level === 'none')
      ? []
      : ['--log_stacktrace_level is ignored: only a bug has a stack trace']),
    ...(last('log_rotate') === ''
      ? []
      : [
          '--log_rotate is ignored: give the file to --log_target, move it away when it is large, and send SIGUSR1',
        ]),
  ];
}

interface ScopedLevel {
  readonly text: string;
  readonly scope: string;
  /** Undefined if there is no such level. */
  readonly level: LogLevel | undefined;
}

function scopedLevels(text: string): readonly ScopedLevel[] {
  return text.split(',').map(scopedLevel);
}

/** Parses `level`, which has the scope `default`, or `scope:level`. */
function scopedLevel(text: string): ScopedLevel {
  const [first = '', second, ...more] = text.split(':');
  const [scope, name] = second === undefined ? ['default', first] : [first, second];
  return {
    text,
    scope,
    level: more.length > 0 ? undefined : levels.find((level) => level === name),
  };
}
