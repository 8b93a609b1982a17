import type { Flag } from './flags.ts';

/** The logging flags of all commands, by name; names and defaults are those of the Go agent. `log_target` may be given more than once. */
export const logFlags = {
  log_output_level: { value: 'levels', text: 'from which level on to log: level, or scope:level,…', default: 'default:info' },
  log_as_json: { value: 'bool', text: 'log JSON on a terminal too', default: 'false' },
  log_target: { value: 'path', text: 'where to log: a file, stdout or stderr; may be repeated', default: 'stdout' },
  log_caller: { value: 'scopes', text: 'ignored: a line names its component', default: '' },
  log_stacktrace_level: { value: 'levels', text: 'ignored: only a bug has a stack trace', default: 'default:none' },
  log_rotate: { value: 'file', text: 'ignored: move a file of --log_target away, then send SIGUSR1', default: '' },
  log_rotate_max_age: { value: 'days', text: 'ignored, as --log_rotate is', default: '30' },
  log_rotate_max_size: { value: 'megabytes', text: 'ignored, as --log_rotate is', default: '104857600' },
  log_rotate_max_backups: { value: 'n', text: 'ignored, as --log_rotate is', default: '1000' },
} as const satisfies Readonly<Record<string, Flag>>;

export type LogFlagName = keyof typeof logFlags;
