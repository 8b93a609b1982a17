import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LogFlagName, logFlags } from '../../../../src/shared/log/log-flags.ts';
import { type GivenLogFlags, logOptions } from '../../../../src/shared/log/log-options.ts';
import type { LogOptions } from '../../../../src/shared/log/open-log.ts';

const standard: LogOptions = { level: 'info', json: false, targets: ['stdout'] };

describe('logOptions', () => {
  it.each<{ given: GivenLogFlags; options: Partial<LogOptions>; warnings?: readonly string[] }>([
    { given: {}, options: {} },
    ...(['debug', 'info', 'warn', 'error', 'fatal', 'none'] as const).map((level) => ({
      given: { log_output_level: `default:${level}` },
      options: { level },
    })),
    { given: { log_output_level: 'debug' }, options: { level: 'debug' } },
    { given: { log_output_level: 'all:error' }, options: { level: 'error' } },
    { given: { log_output_level: 'default:warn,all:debug' }, options: { level: 'debug' } },
    { given: { log_output_level: 'all:debug,default:warn' }, options: { level: 'debug' } },
    { given: { log_output_level: 'warn,default:error' }, options: { level: 'error' } },
    { given: { log_output_level: ['debug', 'warn'] }, options: { level: 'warn' } },
    {
      given: { log_output_level: 'default:warn,sds:debug,ads:none' },
      options: { level: 'warn' },
      warnings: [
        '--log_output_level: there is no scope sds: its level is ignored',
        '--log_output_level: there is no scope ads: its level is ignored',
      ],
    },
    {
      given: { log_output_level: 'sds:debug' },
      options: { level: 'info' },
      warnings: ['--log_output_level: there is no scope sds: its level is ignored'],
    },
    { given: { log_as_json: 'true' }, options: { json: true } },
    { given: { log_as_json: '1' }, options: { json: true } },
    { given: { log_as_json: 'false' }, options: { json: false } },
    { given: { log_target: 'stderr' }, options: { targets: ['stderr'] } },
    { given: { log_target: [] }, options: {} },
    {
      given: { log_target: ['/var/log/a,b.log', 'stdout', 'stdout'] },
      options: { targets: ['/var/log/a,b.log', 'stdout'] },
    },
    {
      given: { log_caller: 'all' },
      options: {},
      warnings: ['--log_caller is ignored: a line of the log names its component instead'],
    },
    { given: { log_stacktrace_level: 'default:none' }, options: {} },
    { given: { log_stacktrace_level: 'default:none,sds:none' }, options: {} },
    {
      given: { log_stacktrace_level: 'error' },
      options: {},
      warnings: ['--log_stacktrace_level is ignored: only a bug has a stack trace'],
    },
    {
      given: {
        log_rotate: '/var/log/agent.log',
        log_rotate_max_age: '1',
        log_rotate_max_size: '1',
        log_rotate_max_backups: '1',
      },
      options: {},
      warnings: [
        '--log_rotate is ignored: give the file to --log_target, move it away when it is large, and send SIGUSR1',
      ],
    },
    { given: { log_rotate: '', log_rotate_max_age: '7' }, options: {} },
  ])('makes of $given $options', ({ given, options, warnings = [] }) => {
    expect(logOptions(given)).toEqual({ ok: true, options: { ...standard, ...options }, warnings });
  });

  it.each<{ given: GivenLogFlags; wrong: string; level?: LogOptions['level'] }>([
    { given: { log_output_level: 'loud' }, wrong: 'loud' },
    { given: { log_output_level: '' }, wrong: '' },
    { given: { log_output_level: 'INFO' }, wrong: 'INFO' },
    { given: { log_output_level: 'a:b:info' }, wrong: 'a:b:info' },
    { given: { log_output_level: 'debug,sds:loud' }, wrong: 'sds:loud', level: 'debug' },
    { given: { log_output_level: 'all:warn,x:loud' }, wrong: 'x:loud', level: 'warn' },
    { given: { log_stacktrace_level: 'always' }, wrong: 'always' },
  ])(
    'warns of a level that is none, which an annotation may have brought: $given',
    ({ given, wrong, level = 'info' }) => {
      const [flag = ''] = Object.keys(given);
      const flaw = `'${wrong}' is not level or scope:level; levels are debug, info, warn, error, fatal, none`;
      const { ok, options, ...rest } = logOptions(given);
      expect([ok, options]).toEqual([true, { ...standard, level }]);
      expect(rest).toMatchObject({
        warnings: expect.arrayContaining([`--${flag}: ${flaw}: it is ignored`]) as unknown,
      });
      expect(logOptions(given, (name) => `file: ${name}`)).toMatchObject({
        ok: false,
        problems: [{ place: `file: ${flag}`, text: flaw }],
      });
    },
  );

  it.each<{ given: GivenLogFlags; problems: readonly (readonly [place: string, text: string])[] }>([
    { given: { log_as_json: 'yes' }, problems: [['--log_as_json', "'yes' is not true or false"]] },
    {
      given: { log_target: ['stdout', ''] },
      problems: [['--log_target', "'' is not a path, stdout or stderr"]],
    },
    {
      given: { log_rotate_max_age: '1d' },
      problems: [['--log_rotate_max_age', "'1d' is not a whole number"]],
    },
    {
      given: { log_output_level: 'x', log_as_json: 'y', log_rotate_max_size: 'z' },
      problems: [
        ['--log_as_json', "'y' is not true or false"],
        ['--log_rotate_max_size', "'z' is not a whole number"],
      ],
    },
  ])('refuses $given', ({ given, problems }) => {
    expect(logOptions(given)).toMatchObject({
      ok: false,
      problems: problems.map(([place, text]) => ({ place, text })),
    });
  });

  it('takes its own defaults, without a warning', () => {
    const given = Object.fromEntries(
      Object.entries(logFlags).map(([name, flag]) => [name, flag.default]),
    );
    expect(logOptions(given)).toEqual({ ok: true, options: standard, warnings: [] });
  });

  it('has a place and a text for whatever is wrong, and never throws', () => {
    const names = Object.keys(logFlags) as LogFlagName[];
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('info', 'default:info', 'all:none', 'constructor', '1', ':', ','),
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.array(text))),
        (given) => {
          const result = logOptions(given);
          if (result.ok) expect(result.options.targets).not.toEqual([]);
          else
            expect(
              result.problems.every(
                ({ place, text: what }) => place.startsWith('--log_') && what !== '',
              ),
            ).toBe(true);
        },
      ),
    );
  });
});
