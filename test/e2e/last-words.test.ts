import { execFile, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { program } from '../support/e2e/program.ts';
import { makeRig } from '../support/e2e/rig.ts';

const wrong = ['proxy', 'sidecar', '--concurrency', '-1'];
const reason = "--concurrency: '-1' is not a whole number from 0 on";
const plain = `pilot-agent: ${reason} (docs/troubleshooting.md#exit-64)\n`;
const fatal = {
  level: 'fatal',
  event: 'agent.failed',
  code: 64,
  reason,
  see: 'docs/troubleshooting.md#exit-64',
};

describe('the last line of a start that fails', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'last-words-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /**
   * Runs the program. Returns its exit code and the content of two files, which may be the same
   * file.
   */
  function run(
    args: readonly string[],
    second = 'stderr',
  ): { code: number | null; stdout: string; stderr: string } {
    const path = (name: string) => join(folder, name);
    const files = [openSync(path('stdout'), 'a'), openSync(path(second), 'a')];
    const { status } = spawnSync(program[0], [...program.slice(1), ...args], {
      stdio: ['ignore', ...files],
    });
    files.forEach((file) => closeSync(file));
    return {
      code: status,
      stdout: readFileSync(path('stdout'), 'utf8'),
      stderr: readFileSync(path(second), 'utf8'),
    };
  }

  it('is in the log, as JSON, and on stderr', () => {
    const { code, stdout, stderr } = run(wrong);
    expect([code, stderr]).toEqual([64, plain]);
    expect(JSON.parse(stdout)).toMatchObject(fatal);
  });

  it('is in the file that the log goes to, even if a flag lacks its value', () => {
    const log = join(folder, 'log');
    const { stdout, stderr } = run([...wrong, '--log_target', log]);
    expect([stdout, stderr]).toEqual(['', plain]);
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject(fatal);
    run(['--log_target', log, 'proxy', '--statusPort']);
    const [, second = ''] = readFileSync(log, 'utf8').split('\n');
    expect(JSON.parse(second)).toMatchObject({
      level: 'fatal',
      code: 64,
      reason: expect.stringContaining('--statusPort') as string,
    });
  });

  it('is in the log that can be opened, if another one cannot', () => {
    const { stdout, stderr } = run([
      ...wrong,
      '--log_target',
      'stdout',
      '--log_target',
      '/proc/none/log',
    ]);
    expect(stderr).toContain('--log_target: /proc/none/log cannot be written');
    expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', code: 78 });
  });

  it.each([
    ['stdout and stderr are one file', [], 'stdout'],
    ['the log goes to stderr', ['--log_target', 'stderr'], 'stderr'],
  ])('is there once, as JSON, if %s', (_, flags, second) => {
    expect(JSON.parse(run([...wrong, ...flags], second).stderr)).toMatchObject(fatal);
  });

  it('is on stderr alone with --log_output_level none', () => {
    expect(run([...wrong, '--log_output_level', 'none', '--log_target', 'stderr'])).toMatchObject({
      stdout: '',
      stderr: plain,
    });
  });

  it('is on stderr alone for any other command', () => {
    expect(run(['config', 'print', '--concurrency', '-1'])).toEqual({
      code: 64,
      stdout: '',
      stderr: plain,
    });
  });

  it('is the line of all commands on a terminal, once', async () => {
    const script = 'import pty, sys; pty.spawn(sys.argv[1:])';
    const { stdout } = await promisify(execFile)('python3', ['-c', script, ...program, ...wrong]);
    expect(stripVTControlCharacters(stdout).replaceAll('\r', '')).toBe(plain);
  });
});

it('the end of a run with a failure is in the log, behind the counters', async () => {
  const rig = await makeRig();
  try {
    const agent = rig.start(['--envoyRestartPolicy', 'exit', '--log_output_level', 'debug']);
    await agent.said('epoch.live', 0);
    for (const pid of rig.envoys()) process.kill(pid, 'SIGKILL');
    expect((await agent.exit).code).toBe(137);
    expect(agent.errors()).toContain('Envoy was ended by SIGKILL');
    const log = agent.log();
    expect(log.slice(-2)).toMatchObject([
      { level: 'info', event: 'agent.ended', code: 137 },
      { level: 'fatal', event: 'agent.failed', code: 137, reason: 'Envoy was ended by SIGKILL' },
    ]);
    const given = log.find(({ event }) => event === 'config.given');
    expect(given?.['values']).toContain('--minDelay=0.3s');
    expect(given?.['values']).not.toContain('--drainDuration=45s');
    const effective = log.find(({ event }) => event === 'config.effective');
    expect(effective).toMatchObject({
      level: 'debug',
      config: {
        minDelay: { value: '0.3s', source: '--minDelay' },
        CA_ADDR: { value: '', source: 'default' },
      },
    });
  } finally {
    await rig.dispose();
  }
});

it('status says how the last agent of a folder has ended, until there is another one', async () => {
  const rig = await makeRig();
  const run = join(rig.folder, 'run');
  const status = () => {
    const { status: code, stderr } = spawnSync(
      program[0],
      [...program.slice(1), 'status', '--configPath', run],
      { encoding: 'utf8' },
    );
    return { code, stderr };
  };
  const printed = (form: string) => {
    const args = [...program.slice(1), 'status', '--configPath', run, '-o', form];
    const { status: code, stdout, stderr } = spawnSync(program[0], args, { encoding: 'utf8' });
    expect([code, stderr]).toEqual([
      69,
      expect.stringMatching(/^pilot-agent: the agent of .* has ended /),
    ]);
    return stdout;
  };
  const expectedStatus = (words: string) => ({
    code: 69,
    stderr: expect.stringMatching(
      new RegExp(`^pilot-agent: the agent of ${run} has ended ${words}`),
    ) as string,
  });
  const ago = String.raw`, \d[^(]* ago \(20\S+Z, after \d[^)]*\): `;
  try {
    const stoppedAgent = rig.start([], {
      env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '0' },
    });
    await stoppedAgent.said('epoch.live', 0);
    stoppedAgent.kill('SIGTERM');
    await stoppedAgent.exit;
    expect(status()).toEqual(
      expectedStatus(String.raw`with exit code 0${ago}it was asked to stop \(SIGTERM\) .*\n$`),
    );

    const config = readFileSync(rig.config);
    writeFileSync(rig.config, '{"nonsense": 1}');
    expect((await rig.start().exit).code).toBe(78);
    const fix =
      'what to do: correct the configuration that is named; see docs/troubleshooting.md#exit-78';
    expect(status()).toEqual(
      expectedStatus(
        `with exit code 78${ago}Envoy refuses its configuration: .*nonsense.*\n${fix}\n$`,
      ),
    );
    const end = {
      folder: run,
      code: 78,
      reason: expect.stringContaining('nonsense') as string,
      fix: fix.slice('what to do: '.length),
    };
    expect(JSON.parse(printed('json'))).toMatchObject({ ended: end });
    expect(parse(printed('yaml'))).toMatchObject({ ended: end });

    writeFileSync(rig.config, config);
    const failing = rig.start(['--envoyRestartPolicy', 'exit']);
    await failing.said('epoch.live', 0);
    expect([status().code, existsSync(join(run, 'ended.json'))]).toEqual([0, false]);
    for (const pid of rig.envoys()) process.kill(pid, 'SIGKILL');
    expect((await failing.exit).code).toBe(137);
    expect(status()).toEqual(
      expectedStatus(
        `with exit code 137${ago}Envoy was ended by SIGKILL .*\nwhat to do: .*#exit-other\n$`,
      ),
    );

    const killed = rig.start();
    await killed.said('epoch.live', 0);
    killed.kill('SIGKILL');
    await killed.exit;
    expect(status()).toEqual(
      expectedStatus(
        String.raw`without a word: .* It was started .* ago \(20\S+Z\), and its folder changed .*\nwhat to do: `,
      ),
    );
    expect(JSON.parse(printed('json'))).toEqual({
      ended: {
        folder: run,
        startedAt: expect.stringMatching(/^20\S+Z$/) as string,
        changedAt: expect.stringMatching(/^20\S+Z$/) as string,
      },
    });
  } finally {
    await rig.dispose();
  }
});

it('a typo in a flag starts no other proxy', async () => {
  const rig = await makeRig();
  try {
    const agent = rig.start(['--statusport', '1', 'router']);
    expect((await agent.exit).code).toBe(64);
    expect(agent.errors()).toContain(
      '--statusport: there is no such flag: did you mean --statusPort?',
    );
    expect(rig.envoys()).toEqual([]);
  } finally {
    await rig.dispose();
  }
});
