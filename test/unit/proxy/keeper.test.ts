import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findExecutable } from '../../../src/pilot-agent/envoy/find-envoy.ts';
import type { ProcessEvent, Signal } from '../../../src/epochs/ports.ts';
import type { LogLine } from '../../../src/shared/log/log-line.ts';
import { detachedEnvoys } from '../../../src/proxy/detached-envoys.ts';
import { startTime } from '../../../src/proxy/proc.ts';
import { eventually } from '../../support/eventually.ts';

const [setsid = '', sh = ''] = ['setsid', 'sh'].map((name) =>
  findExecutable(name, process.env['PATH']),
);

let folder: string;
let pids: number[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-keeper-'));
  pids = [];
});
afterEach(async () => {
  for (const pid of pids) end(pid);
  await expect.poll(() => keepers()).toHaveLength(0);
  rmSync(folder, { recursive: true });
});

/** Kills a process, which may end on its own meanwhile. */
const end = (pid: number) => {
  try {
    if (startTime(pid) !== undefined) process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const fail = (error: unknown) => expect.fail(String(error));
/** Returns the processes that wait for an Envoy of this folder. */
const keepers = () =>
  readdirSync('/proc')
    .filter(
      (name) =>
        /^\d+$/.test(name) && read(`/proc/${name}/cmdline`).includes(`envoy-keeper\0${folder}`),
    )
    .map(Number);

/** Starts a keeper that runs `script` in place of Envoy; returns its events. */
function start(script: string, { inShell = setsid } = {}) {
  const program = join(folder, 'program');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const signals$ = new Subject<Signal>();
  const events: ProcessEvent[] = [];
  const keeps = detachedEnvoys({
    setsid: inShell,
    sh,
    folder,
    log: () => undefined,
    scheduler: asyncScheduler,
  });
  const life = keeps.start({ epoch: 0, baseId: 7 }, program, ['--epoch', '0'], signals$).subscribe({
    error: fail,
    next: (event) => {
      if (event.type === 'spawned') pids.push(event.pid);
      events.push(event);
    },
  });
  const exit = () => eventually(() => events.find((event) => event.type === 'exited')?.exit);
  return { keeps, events, signals$, life, exit, pid: () => pids[0] ?? 0 };
}

const lives = (pid: number) => startTime(pid) !== undefined;

describe('an Envoy that is kept', () => {
  it('is nobody’s child, in a session of its own, and goes on when nobody looks after it any more', async () => {
    const { life, pid, events } = start('while :; do echo alive; sleep 0.05; done');
    expect(events).toEqual([{ type: 'spawned', pid: pid() }]);
    const [, , , session] = read(`/proc/${pid()}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    expect(Number(session)).not.toBe(Number(read('/proc/self/stat').split(' ')[5]));
    life.unsubscribe();
    const logLength = () => read(join(folder, 'envoy.log')).length;
    const before = logLength();
    await expect.poll(() => logLength()).toBeGreaterThan(before + 20);
    expect(keepers()).toHaveLength(1);
  });

  it.each([
    ['exit 0', { kind: 'clean' }],
    ['echo "no such file" >&2; exit 1', { kind: 'failed', code: 1, tail: ['no such file'] }],
    ['echo one; echo two >&2; exit 3', { kind: 'failed', code: 3, tail: ['one\ntwo'] }],
    ['kill -SEGV $$', { kind: 'signaled', signal: 'SIGSEGV' }],
  ])('ends as it ends, and its last words are in its log (%s)', async (script, exit) => {
    const { exit: ended } = start(script);
    expect(await ended()).toMatchObject(exit);
  });

  it('is sent what is sent to it, by whoever looks after it', async () => {
    const first = start('exec sleep 60');
    first.signals$.next('SIGTERM');
    expect(await first.exit()).toMatchObject({ kind: 'signaled', signal: 'SIGTERM' });
  });

  it('is looked after by the next agent as by the first', async () => {
    const { keeps, life, pid } = start(
      'trap "exit 4" TERM; echo ready; while :; do sleep 0.05; done',
    );
    await expect.poll(() => read(join(folder, 'envoy.log'))).toBe('ready\n');
    keeps.remember([
      {
        ...{
          epoch: 0,
          restartEpoch: 0,
          lineage: 0,
          baseId: 7,
          socketPath: '',
          pid: pid(),
          addressFile: join(folder, 'envoy-admin-address'),
        },
        ...{
          config: '',
          admin: { request: () => new Subject(), open: () => new Subject(), located: () => false },
          seenLive: true,
          ended: false,
        },
      },
    ]);
    expect(statSync(join(folder, 'envoy-kept.json')).mode & 0o777).toBe(0o600);
    const [written] = JSON.parse(read(join(folder, 'envoy-kept.json'))) as [
      { epoch: number; pid: number; startTime: string },
    ];
    expect(written).toEqual({
      epoch: 0,
      restartEpoch: 0,
      lineage: 0,
      baseId: 7,
      socketPath: '',
      pid: pid(),
      startTime: startTime(pid()),
      addressFile: join(folder, 'envoy-admin-address'),
    });
    life.unsubscribe();
    const signals$ = new Subject<Signal>();
    const events: ProcessEvent[] = [];
    const next = detachedEnvoys({
      setsid,
      sh,
      folder,
      log: () => undefined,
      scheduler: asyncScheduler,
    });
    next
      .watch(
        { ...written, restartEpoch: 0, lineage: 0, baseId: 7, socketPath: '', addressFile: '' },
        signals$,
      )
      .subscribe({ next: (event) => events.push(event), error: fail });
    signals$.next('SIGTERM');
    await expect.poll(() => events.length).toBeGreaterThan(0);
    expect(events).toMatchObject([{ type: 'exited', exit: { kind: 'failed', code: 4 } }]);
    next.clear({ epoch: 0, baseId: 7 });
    next.remember([]);
    expect(readdirSync(folder).sort()).toEqual(['envoy.log', 'program']);
  });

  it('has ended in an unknown way if nobody was left to see how', async () => {
    const { exit, pid } = start('exec sleep 60');
    for (const keeper of keepers()) process.kill(keeper, 'SIGKILL');
    process.kill(pid(), 'SIGKILL');
    expect(await exit()).toEqual({ kind: 'unknown', tail: [] });
  });

  it('is not told anything when its number belongs to somebody else', async () => {
    const { keeps, pid } = start('exec sleep 60');
    const signals$ = new Subject<Signal>();
    const events: ProcessEvent[] = [];
    const adopted = {
      epoch: 1,
      restartEpoch: 0,
      lineage: 0,
      baseId: 7,
      socketPath: '',
      pid: pid(),
      startTime: '1',
      addressFile: '',
    };
    keeps.watch(adopted, signals$).subscribe({ next: (event) => events.push(event), error: fail });
    signals$.next('SIGKILL');
    await expect.poll(() => events.length).toBeGreaterThan(0);
    expect(events).toMatchObject([{ type: 'exited', exit: { kind: 'unknown' } }]);
    expect(lives(pid())).toBe(true);
  });

  it('has a log that is its owner’s alone, also a new one in the place of one that was moved away', () => {
    const { signals$ } = start('trap : USR1; while :; do sleep 0.05; done');
    const log = join(folder, 'envoy.log');
    const modeOf = () => existsSync(log) && statSync(log).mode & 0o777;
    expect(modeOf()).toBe(0o600);
    renameSync(log, `${log}.1`);
    signals$.next('SIGUSR1');
    expect(modeOf()).toBe(0o600);
  });

  it('has no log where somebody else has put a link or a FIFO: nothing is written there, and it is not started', () => {
    const foreign = join(folder, 'foreign.log');
    writeFileSync(foreign, 'theirs');
    symlinkSync(foreign, join(folder, 'envoy.log'));
    expect(start('echo mine').events).toMatchObject([
      { type: 'exited', exit: { kind: 'spawn-failed' } },
    ]);
    rmSync(join(folder, 'envoy.log'));
    execFileSync('mkfifo', [join(folder, 'envoy.log')]);
    expect(start('echo mine').events).toMatchObject([
      { type: 'exited', exit: { kind: 'spawn-failed' } },
    ]);
    expect(readFileSync(foreign, 'utf8')).toBe('theirs');
  });

  it('that cannot be started is an exit', () => {
    const { events } = start('exit 0', { inShell: join(folder, 'no-setsid') });
    expect(events).toMatchObject([{ type: 'exited', exit: { kind: 'spawn-failed' } }]);
    // This setsid is of another make, which knows no --fork.
    const foreign = join(folder, 'foreign');
    writeFileSync(
      foreign,
      '#!/bin/sh\necho "unrecognized option: fork" >&2\necho "Usage: …" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    expect(start('exit 0', { inShell: foreign }).events).toEqual([
      { type: 'exited', exit: { kind: 'spawn-failed', reason: 'unrecognized option: fork' } },
    ]);
  });
});

it('an agent that cannot write down what it keeps says so', () => {
  const lines: LogLine[] = [];
  const keeps = detachedEnvoys({
    setsid,
    sh,
    folder: join(folder, 'missing'),
    log: (line) => lines.push(line),
    scheduler: asyncScheduler,
  });
  keeps.remember([
    {
      ...{
        epoch: 0,
        restartEpoch: 0,
        lineage: 0,
        baseId: 7,
        socketPath: '',
        pid: process.pid,
        addressFile: '',
      },
      ...{
        config: '',
        admin: { request: () => new Subject(), open: () => new Subject(), located: () => false },
        seenLive: true,
        ended: false,
      },
    },
  ]);
  expect(lines).toMatchObject([
    {
      event: 'envoy.not_recorded',
      msg: 'this Envoy cannot be recorded: the next agent will kill it',
    },
  ]);
});
