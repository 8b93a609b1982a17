import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { printBootstrap } from '../../../../src/pilot-agent/cli/bootstrap.ts';
import { check } from '../../../../src/pilot-agent/cli/check.ts';
import { printCompletion } from '../../../../src/pilot-agent/cli/completion.ts';
import { configCheck } from '../../../../src/pilot-agent/cli/config-check.ts';
import { configPrint } from '../../../../src/pilot-agent/cli/config-print.ts';
import { envoyInstall, envoyPath } from '../../../../src/pilot-agent/cli/envoy.ts';
import { examples } from '../../../../src/pilot-agent/cli/examples.ts';
import { exec } from '../../../../src/pilot-agent/cli/exec.ts';
import { program, spelledOut } from '../../../../src/pilot-agent/cli/program.ts';
import { proxy } from '../../../../src/pilot-agent/cli/proxy.ts';
import { request } from '../../../../src/pilot-agent/cli/request.ts';
import { printSecrets } from '../../../../src/pilot-agent/cli/secrets.ts';
import { status } from '../../../../src/pilot-agent/cli/status.ts';
import { top } from '../../../../src/pilot-agent/cli/top.ts';
import { wait } from '../../../../src/pilot-agent/cli/wait.ts';
import { type Flag, flagGroups } from '../../../../src/shared/text/flag.ts';
import { flags } from '../../../../src/pilot-agent/config/flags.ts';
import { logFlags } from '../../../../src/shared/log/log-flags.ts';
import { Fatal } from '../../../../src/shared/program/exit.ts';

vi.mock('../../../../src/pilot-agent/cli/bootstrap.ts', () => ({ printBootstrap: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/check.ts', () => ({ check: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/completion.ts', () => ({ printCompletion: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/config-check.ts', () => ({ configCheck: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/config-print.ts', () => ({ configPrint: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/envoy.ts', () => ({
  envoyInstall: vi.fn(),
  envoyPath: vi.fn(),
}));
vi.mock('../../../../src/pilot-agent/cli/exec.ts', () => ({ exec: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/proxy.ts', () => ({ proxy: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/request.ts', () => ({ request: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/secrets.ts', () => ({ printSecrets: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/status.ts', () => ({ status: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/top.ts', () => ({ top: vi.fn() }));
vi.mock('../../../../src/pilot-agent/cli/wait.ts', () => ({ wait: vi.fn() }));

const mocks = [
  proxy,
  printBootstrap,
  check,
  configPrint,
  configCheck,
  envoyInstall,
  envoyPath,
  request,
  wait,
  exec,
  printSecrets,
  status,
  top,
  printCompletion,
];
const withFlags = [proxy, printBootstrap, check, configPrint];

let printed: string;
let onStderr: string;
const { columns, isTTY } = process.stdout;

beforeEach(() => {
  [printed, onStderr] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation(
    (text: unknown) => ((printed += String(text)), true),
  );
  vi.spyOn(process.stderr, 'write').mockImplementation(
    (text: unknown) => ((onStderr += String(text)), true),
  );
  vi.spyOn(console, 'log').mockImplementation(
    (text: unknown) => void (printed += `${String(text)}\n`),
  );
});
afterEach(() => {
  vi.unstubAllEnvs();
  Object.assign(process.stdout, { columns, isTTY });
  vi.restoreAllMocks();
  vi.clearAllMocks();
});

/** Runs a command line; returns its output, and the error that it ended with. */
async function run(...args: readonly string[]) {
  printed = '';
  const error: unknown = await program()
    .parseAsync(spelledOut(args, flags, logFlags), { from: 'user' })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  return { printed, error };
}

/** Returns the words of each command that has a page, after the name of the program. */
function namesOf(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  return [path, ...command.commands.flatMap((below) => namesOf(below, [...path, below.name()]))];
}
const all = namesOf(program()).map((path) => ({ path, name: ['pilot-agent', ...path].join(' ') }));

/** Returns the command lines in the examples of a page. */
const shown = (page: string) => [...page.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line);

describe('the help page', () => {
  it('is there for each command', () => {
    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['pilot-agent', 'pilot-agent config print', 'pilot-agent envoy path']),
    );
    expect(all.length).toBeGreaterThan(12);
  });

  it.each(all)(
    'of $name is 80 columns wide at most, on a terminal of 200 as on one of 40',
    async ({ path }) => {
      vi.stubEnv('NO_COLOR', '1');
      process.stdout.isTTY = true;
      process.stdout.columns = 200;
      const wide = await run(...path, '--help');
      process.stdout.columns = 40;
      const narrow = await run(...path, '--help');
      expect(wide.printed.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(wide.printed).toContain('\n  -h, --help  ');
      expect(narrow.printed).toBe(wide.printed);
      expect(wide.error).toMatchObject({ exitCode: 0 });
    },
  );

  it.each(all)(
    'of $name has colours on a terminal, and is the same without them',
    async ({ path }) => {
      const { printed: plain } = await run(...path, '--help');
      vi.stubEnv('FORCE_COLOR', '1');
      const { printed: page } = await run(...path, '--help');
      expect(page).toContain('\u001b[1mUsage:\u001b[22m \u001b[1mpilot-agent\u001b[22m');
      expect(page).toContain('\u001b[1mExamples:\u001b[22m\n\u001b[90m  # ');
      expect(stripVTControlCharacters(page)).toBe(plain);
    },
  );

  it.each(all)('of $name is what help prints too', async ({ path }) => {
    const { printed: page } = await run(...path, '--help');
    expect(await run('help', ...path)).toEqual({
      printed: page,
      error: expect.objectContaining({ exitCode: 0 }) as unknown,
    });
  });

  it('has each flag of proxy in its group, and the groups in their order', async () => {
    const { printed: page } = await run('proxy', '--help');
    const sections = [...page.matchAll(/^(\w.*):\n((?: .*\n)+)/gm)].map(([, title, body = '']) => [
      title,
      [...body.matchAll(/^ {2}--([\w-]+) /gm)].map(([, name]) => name),
    ]);
    const expected = Object.entries(flagGroups).map(([group, title]) => [
      title,
      Object.entries<Flag>(flags)
        .filter(([, flag]) => flag.group === group)
        .map(([name]) => name),
    ]);
    expect(sections.slice(1, 8)).toEqual(expected);
  });

  it.each(all)(
    'of $name has the logging flags of all commands if it is the first page only',
    async ({ path }) => {
      const { printed: page } = await run(...path, '--help');
      const shownFlags = Object.keys(logFlags).filter((name) => page.includes(`  --${name} `));
      expect(shownFlags).toEqual(path.length === 0 ? Object.keys(logFlags) : []);
    },
  );
});

describe('the examples', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'examples-'));
    writeFileSync(join(folder, 'pilot-agent'), '#!/bin/sh\nprintf "%s\\0" "$@"');
    chmodSync(join(folder, 'pilot-agent'), 0o755);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Returns the arguments that a shell passes for an example. */
  function words(example: string): readonly string[] {
    const [, line = example] = /^(?:eval )?"\$\((.*)\)"/.exec(example) ?? [];
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    return execFileSync('sh', ['-c', line], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
  }

  it.each(all)('of $name end its page, and are its own', async ({ path, name }) => {
    const { printed: page } = await run(...path, '--help');
    expect(page.endsWith(`${examples(name)}\n`)).toBe(true);
    const lines = shown(page);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(4);
    if (path.length > 0 && path[0] !== 'help')
      expect(lines.filter((line) => !line.includes(name))).toEqual([]);
  });

  it.each(all.flatMap(({ name }) => shown(examples(name))))(
    '%s is a command line that is taken',
    async (example) => {
      const args = words(example);
      const { error, printed: text } = await run(...args);
      const called = mocks.filter((mock) => vi.mocked(mock as () => void).mock.calls.length > 0);
      if (args.includes('help')) {
        expect(error).toMatchObject({ exitCode: 0 });
        expect(text).toMatch(/^Usage: pilot-agent /);
      } else {
        expect(error).toBeUndefined();
        expect(called.length).toBe(args[0] === 'version' ? 0 : 1);
      }
      // The role is the only word that no flag takes.
      const leftover = withFlags.flatMap((mock) => vi.mocked(mock).mock.lastCall?.[1] ?? []);
      expect(leftover.filter((word) => !['sidecar', 'router'].includes(word))).toEqual([]);
    },
  );
});

describe('a command line that is wrong', () => {
  it.each<[args: string, why: string]>([
    ['nonsense', "unknown command 'nonsense'; see pilot-agent --help"],
    ['help nonsense', "unknown command 'nonsense'; see pilot-agent --help"],
    ['nonsense --help', "unknown command 'nonsense'; see pilot-agent --help"],
    ['proxi sidecar', "unknown command 'proxi' (Did you mean proxy?)"],
    ['help proxi', "unknown command 'proxi' (Did you mean proxy?)"],
    ['config nonsense', "unknown command 'nonsense'; see pilot-agent config --help"],
    ['config help nonsense', "unknown command 'nonsense'; see pilot-agent config --help"],
    ['help config nonsense', "unknown command 'nonsense'; see pilot-agent config --help"],
    ['config prnt --help', "unknown command 'prnt' (Did you mean print?)"],
    ['--nonsense', "unknown option '--nonsense'; see pilot-agent --help"],
    ['wait --nonsense', "unknown option '--nonsense'; see pilot-agent wait --help"],
    ['wait --timeoutSecond 3', "unknown option '--timeoutSecond' (Did you mean --timeoutSeconds?)"],
    ['request GET', "missing required argument 'path'; see pilot-agent request --help"],
    [
      'version -o xml',
      "option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are yaml, json; see pilot-agent version --help",
    ],
    [
      'config print -o=',
      "option '-o, --output <format>' argument '=' is invalid. Allowed choices are table, json, yaml; see pilot-agent config print --help",
    ],
    [
      'secrets -o',
      "option '-o, --output <format>' argument missing; see pilot-agent secrets --help",
    ],
    [
      'version extra',
      "too many arguments for 'version'. Expected 0 arguments but got 1; see pilot-agent version --help",
    ],
  ])('%s is told in a line, with 64', async (args, why) => {
    const { error, printed: text } = await run(...args.split(' '));
    expect(error).toBeInstanceOf(Fatal);
    expect([(error as Fatal).message.replace(/\s+/g, ' '), (error as Fatal).code]).toEqual([
      why,
      64,
    ]);
    expect([text, onStderr]).toEqual(['', '']);
  });

  it.each(['config', 'envoy'])(
    '%s without what is below it prints its page where errors go',
    async (name) => {
      const { error, printed: text } = await run(name);
      expect(error).toMatchObject({ exitCode: 1, code: 'commander.help' });
      expect([text, onStderr]).toEqual(['', expect.stringMatching(`^Usage: pilot-agent ${name} `)]);
    },
  );
});

describe('--version', () => {
  it.each(['--version', '-V', 'proxy --version'])(
    '%s prints the number alone, as version --short does',
    async (args) => {
      const short = await run('version', '--short');
      const { printed: text, error } = await run(...args.split(' '));
      expect([text, error]).toEqual([
        `${packageJson.version}\n`,
        expect.objectContaining({ exitCode: 0 }),
      ]);
      expect(short).toEqual({ printed: text, error: undefined });
      expect(proxy).not.toHaveBeenCalled();
    },
  );
});
