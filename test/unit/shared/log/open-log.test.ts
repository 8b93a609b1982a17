import { execFile, execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogLevel, LogLine } from '../../../../src/shared/log/log-line.ts';
import { type AgentLog, openLog } from '../../../../src/shared/log/open-log.ts';

const line = (level: LogLine['level'], msg: string, component = 'agent'): LogLine => ({
  level,
  event: 'epoch.live',
  component,
  msg,
});

const linkOf = (path: string) => {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // it was the descriptor by which the folder was read
  }
};

describe('openLog', () => {
  let folder: string;
  let file: string;
  let opened: AgentLog | undefined;

  const open = (options: Partial<Parameters<typeof openLog>[0]> = {}) =>
    (opened = openLog({ level: 'info', json: false, targets: [file], ...options }, 'agent'));
  const read = (path = file) => readFileSync(path, 'utf8');
  const lines = (path = file) =>
    read(path)
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as LogLine);
  const messages = (path = file) => lines(path).map(({ msg }) => msg);

  const openFiles = () => readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`));

  it('tries again if the logger cannot be loaded, and loses no line', async () => {
    vi.doMock('../../../../src/shared/log/pino-log.ts', () => {
      throw new Error('no');
    });
    const log = open();
    log.write(line('info', 'one'));
    log.open();
    await expect(import('../../../../src/shared/log/pino-log.ts')).rejects.toThrow();
    vi.doUnmock('../../../../src/shared/log/pino-log.ts');
    log.write(line('info', 'two'));
    await close();
    expect(messages()).toEqual(['one', 'two']);
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'open-log-'));
    file = join(folder, 'agent.log');
    opened = undefined;
  });
  afterEach(async () => {
    await opened?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const close = async () => {
    await opened?.close();
    opened = undefined;
  };

  it('keeps lines until it is opened, and has them in their order', async () => {
    const log = open();
    log.write(line('info', 'a'));
    log.open();
    log.write(line('warn', 'b'));
    await expect.poll(() => messages()).toHaveLength(2);
    log.write({ level: 'error', event: 'epoch.live', component: 'agent', msg: 'c', epoch: 1 });
    await close();
    expect(messages()).toEqual(['a', 'b', 'c']);
    expect(lines()[2]).toMatchObject({
      level: 'error',
      event: 'epoch.live',
      component: 'agent',
      epoch: 1,
      time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    });
  });

  it('says of a warning and of an error where to read on, and of a line of Envoy nothing', async () => {
    const log = open();
    log.write({ level: 'warn', event: 'epoch.not_live', msg: 'a' });
    log.write({ level: 'error', event: 'config.refused', msg: 'b' });
    log.write({ level: 'info', event: 'drain.ended', msg: 'c' });
    log.write({ level: 'error', event: 'envoy.log', msg: 'd' });
    await close();
    const page = 'docs/troubleshooting.md';
    expect(lines().map(({ see }) => see)).toEqual([
      `${page}#epoch-not-live`,
      `${page}#config-refused`,
      undefined,
      undefined,
    ]);
  });

  it('puts out on its end what it has not been opened for', async () => {
    open().write(line('info', 'a'));
    await close();
    expect(messages()).toEqual(['a']);
  });

  it('has nothing in JSON on which a terminal acts, and loses nothing of what was said', async () => {
    const log = open({ json: true });
    const nodeId = 'a\u009b31m\u202eb\u007f\u001b[2J\u2066\u061c';
    log.write({ ...line('info', nodeId), nodeId, [nodeId]: 1 });
    await close();
    expect(lines()).toMatchObject([{ msg: nodeId, nodeId, [nodeId]: 1 }]);
    expect(read().trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('appends to a file, and makes one that others may read', async () => {
    writeFileSync(file, '{"msg":"before"}\n');
    const other = join(folder, 'other.log');
    open({ targets: [file, other] }).write(line('info', 'a'));
    await close();
    expect([messages(), messages(other)]).toEqual([['before', 'a'], ['a']]);
    const reference = join(folder, 'reference');
    writeFileSync(reference, '', { mode: 0o644 });
    expect(statSync(other).mode).toBe(statSync(reference).mode);
  });

  const levels: readonly LogLine['level'][] = ['trace', 'debug', 'info', 'warn', 'error'];
  it.each<{ level: LogLevel; least: number }>([
    { level: 'debug', least: 1 },
    { level: 'info', least: 2 },
    { level: 'warn', least: 3 },
    { level: 'error', least: 4 },
    { level: 'fatal', least: 5 },
    { level: 'none', least: 5 },
  ])('writes what is as bad as $level, and all that Envoy says', async ({ level, least }) => {
    const log = open({ level });
    for (const name of levels) log.write(line(name, name));
    for (const name of levels) log.write(line(name, `Envoy: ${name}`, 'envoy.main'));
    await close();
    expect(messages()).toEqual([...levels.slice(least), ...levels.map((name) => `Envoy: ${name}`)]);
  });

  it('takes another level while it runs, and before it is opened', async () => {
    const log = open();
    log.write(line('debug', 'a'));
    log.level('debug');
    log.open();
    await expect.poll(() => messages()).toHaveLength(1);
    log.level('none');
    log.write(line('error', 'b'));
    log.level('warn');
    log.write(line('warn', 'c'));
    await close();
    expect(messages()).toEqual(['a', 'c']);
  });

  it('opens a file anew that was moved away, and goes on in both places without a loss', async () => {
    const log = open();
    log.open();
    log.write(line('info', 'a'));
    await expect.poll(() => messages()).toHaveLength(1);
    log.level('debug');
    for (const round of [1, 2, 3]) {
      renameSync(file, `${file}.${round}`);
      log.write(line('info', `old ${round}`));
      log.reopen();
      await expect.poll(() => read()).toHaveLength(0);
      await expect.poll(() => openFiles()).not.toContain(`${file}.${round}`);
      log.write(line('debug', `new ${round}`));
      await expect.poll(() => messages()).toHaveLength(1);
    }
    await close();
    expect([1, 2, 3].flatMap((round) => messages(`${file}.${round}`))).toEqual([
      'a',
      'old 1',
      'new 1',
      'old 2',
      'new 2',
      'old 3',
    ]);
    expect(messages()).toEqual(['new 3']);
  });

  it('goes on with the old file if it cannot be opened anew, says so, and tries again', async () => {
    const nested = join(folder, 'logs');
    mkdirSync(nested);
    const path = join(nested, 'agent.log');
    const log = open({ targets: [path] });
    log.open();
    log.write(line('info', 'a'));
    await expect.poll(() => messages(path)).toHaveLength(1);
    const moved = join(folder, 'moved');
    renameSync(nested, moved);
    log.reopen();
    await expect.poll(() => messages(join(moved, 'agent.log'))).toHaveLength(2);
    expect(lines(join(moved, 'agent.log'))[1]).toMatchObject({
      level: 'warn',
      event: 'log.reopen_failed',
      msg: 'a log file cannot be opened again: lines go to the old one',
      path,
      reason: expect.stringMatching(/^ENOENT/) as unknown,
    });
    log.write(line('info', 'b'));
    mkdirSync(nested);
    log.reopen();
    await expect.poll(() => read(path)).toBe('');
    await expect.poll(() => openFiles()).not.toContain(join(moved, 'agent.log'));
    log.write(line('info', 'c'));
    await close();
    expect(messages(join(moved, 'agent.log')).at(-1)).toBe('b');
    expect(messages(path)).toEqual(['c']);
  });

  it('writes to a FIFO that somebody reads', async () => {
    execFileSync('mkfifo', [file]);
    const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const log = open();
    log.write(line('info', 'a'));
    log.reopen();
    await close();
    const buffer = Buffer.alloc(1_000);
    const text = buffer.toString('utf8', 0, readSync(reader, buffer));
    closeSync(reader);
    expect(text).toMatch(/^\{"level":"info",.*"msg":"a"\}\n$/);
  });

  it.each<{ what: string; target: () => string; code: string }>([
    { what: 'a folder', target: () => folder, code: 'EISDIR' },
    {
      what: 'a folder that is not there',
      target: () => join(folder, 'no', 'file'),
      code: 'ENOENT',
    },
    {
      what: 'a FIFO that nobody reads',
      target: () => (execFileSync('mkfifo', [file]), file),
      code: 'ENXIO',
    },
  ])('throws one line with the name for $what, and waits for nobody', ({ target, code }) => {
    const name = target();
    expect(() => open({ targets: ['stdout', name] })).toThrow(
      new RegExp(`^${name} cannot be written: ${code}: .*$`),
    );
  });

  it('is readable on a terminal, and JSON elsewhere; JSON on both if that is wanted', async () => {
    const code = `import { openLog } from './src/shared/log/open-log.ts';
      for (const json of [false, true]) {
        const log = openLog({ level: 'info', json, targets: ['/dev/stdout', '${file}'] }, 'agent');
        log.write({ level: 'info', event: 'epoch.live', component: 'agent', msg: 'a', b: 1 });
        await log.close();
      }`;
    const args = [process.execPath, '--import', 'tsx', '--input-type', 'module', '--eval', code];
    const inTerminal = 'import pty, sys; pty.spawn(sys.argv[1:])';
    const { stdout } = await promisify(execFile)('python3', ['-c', inTerminal, ...args], {
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: \[agent\] a b=1\r\n\{"level":"info",.*"b":1,"msg":"a"\}\r\n$/,
    );
    expect(messages()).toEqual(['a', 'a']);
  });
});
