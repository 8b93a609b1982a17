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
  const valuesOf = (flag: LogFlagName): readonly string[] => {
    const values = [given[flag] ?? []].flat();
    return values.length > 0 ? values : [logFlags[flag].default];
  };
  const last = (flag: LogFlagName) => valuesOf(flag).at(-1) ?? '';
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const refuse = (flag: LogFlagName, text: string) =>
    void problems.push({ place: called(flag), text });

  const scoped = (flag: LogFlagName) =>
    last(flag)
      .split(',')
      .map((part) => scopedLevel(part));
  const checkLevels = (flag: LogFlagName) => {
    for (const { text, level } of scoped(flag)) {
      if (level !== undefined) continue;
      const flaw = `'${text}' is not level or scope:level; levels are ${levels.join(', ')}`;
      // An injector writes the flag from an annotation of the pod; a person writes a file.
      if (called(flag) === `--${flag}`) warnings.push(`${called(flag)}: ${flaw}: it is ignored`);
      else refuse(flag, flaw);
    }
  };
  checkLevels('log_output_level');
  checkLevels('log_stacktrace_level');
  const json = parseBoolean(last('log_as_json'));
  if (json === undefined) refuse('log_as_json', `'${last('log_as_json')}' is not true or false`);
  const targets = [...new Set(valuesOf('log_target'))];
  if (targets.includes('')) refuse('log_target', "'' is not a path, stdout or stderr");
  for (const flag of [
    'log_rotate_max_age',
    'log_rotate_max_size',
    'log_rotate_max_backups',
  ] as const)
    if (!/^[+-]?\d+$/.test(last(flag))) refuse(flag, `'${last(flag)}' is not a whole number`);
  let level: LogLevel = 'info';
  for (const part of scoped('log_output_level')) {
    const isOwn = part.scope === 'default' || part.scope === 'all';
    if (isOwn) level = part.level ?? level;
    else warnings.push(`--log_output_level: there is no scope ${part.scope}: its level is ignored`);
    if (part.scope === 'all') break;
  }
  const paths = targets.filter((path) => path !== '');
  const options = {
    level,
    json: json ?? false,
    targets: paths.length > 0 ? paths : [logFlags.log_target.default],
  };
  if (problems.length > 0) return { ok: false, options, problems };
  if (last('log_caller') !== '')
    warnings.push('--log_caller is ignored: a line of the log names its component instead');
  if (scoped('log_stacktrace_level').some((part) => part.level !== 'none'))
    warnings.push('--log_stacktrace_level is ignored: only a bug has a stack trace');
  if (last('log_rotate') !== '')
    warnings.push(
      '--log_rotate is ignored: give the file to --log_target, move it away when it is large, and send SIGUSR1',
    );
  return { ok: true, options, warnings };
}

/** Parses `level`, which has the scope `default`, or `scope:level`. */
function scopedLevel(text: string): {
  readonly text: string;
  readonly scope: string;
  readonly level: LogLevel | undefined;
} {
  const [first = '', second, ...more] = text.split(':');
  const [scope, name] = second === undefined ? ['default', first] : [first, second];
  return {
    text,
    scope,
    level: more.length > 0 ? undefined : levels.find((level) => level === name),
  };
}
