import type { Flag } from '../text/flag.ts';

/**
 * The logging flags of all commands, by name; names and defaults are those of the Go agent.
 * `log_target` may be given more than once.
 */
export const logFlags = {
  log_output_level: {
    group: 'logging',
    value: 'levels',
    text: 'lowest level to log: level, or scope:level,…',
    default: 'default:info',
    example: 'default:debug',
    choices: ['debug', 'info', 'warn', 'error', 'fatal', 'none'],
  },
  log_as_json: {
    group: 'logging',
    value: 'bool',
    text: 'log JSON to a terminal too',
    default: 'false',
    example: 'true',
  },
  log_target: {
    group: 'logging',
    value: 'path',
    text: 'target of the log: a file, stdout or stderr; may be repeated',
    default: 'stdout',
    example: '/var/log/agent.log',
  },
  log_caller: {
    group: 'logging',
    value: 'scopes',
    text: 'ignored: each line names its component',
    default: '',
    example: 'default',
  },
  log_stacktrace_level: {
    group: 'logging',
    value: 'levels',
    text: 'ignored: only bugs and failed parts have a stack trace',
    default: 'default:none',
    example: 'default:error',
  },
  log_rotate: {
    group: 'logging',
    value: 'file',
    text: 'ignored: to rotate, move the file of --log_target away, then send SIGUSR1',
    default: '',
    example: '/var/log/agent.log',
  },
  log_rotate_max_age: {
    group: 'logging',
    value: 'days',
    text: 'ignored, like --log_rotate',
    default: '30',
    example: '7',
  },
  log_rotate_max_size: {
    group: 'logging',
    value: 'megabytes',
    text: 'ignored, like --log_rotate',
    default: '104857600',
    example: '50',
  },
  log_rotate_max_backups: {
    group: 'logging',
    value: 'n',
    text: 'ignored, like --log_rotate',
    default: '1000',
    example: '10',
  },
} as const satisfies Readonly<Record<string, Flag>>;

export type LogFlagName = keyof typeof logFlags;
