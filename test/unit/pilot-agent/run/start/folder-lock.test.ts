import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type FolderLock,
  lockFolder,
} from '../../../../../src/pilot-agent/run/start/folder-lock.ts';

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-lock-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) await end(child);
  rmSync(folder, { recursive: true });
});

const lock = (version = 'test') => lockFolder(folder, version);
const release = (folderLock: FolderLock) => folderLock.ok && folderLock.release();
const sockets = () => readdirSync(folder).filter((name) => name.startsWith('agent-'));

/** Starts another process that holds the folder, and waits until it reports so. */
async function holder(): Promise<ChildProcess> {
  const code = `const { lockFolder } = await import('./src/pilot-agent/run/start/folder-lock.ts');
    console.log((await lockFolder(${JSON.stringify(folder)}, 'other')).ok);
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  expect(String(output).trim()).toBe('true');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

it('a folder has one holder, by whatever name it is called, until it is let go of', async () => {
  symlinkSync(folder, join(folder, 'link'));
  const first = await lock('1.2.3');
  expect(first.ok).toBe(true);
  expect(statSync(join(folder, sockets()[0] ?? '')).mode & 0o777).toBe(0o600);
  const second = await lockFolder(join(folder, 'link'), 'test');
  expect(second).toMatchObject({ ok: false, holder: { pid: process.pid, version: '1.2.3' } });
  expect(sockets()).toHaveLength(1);
  release(first);
  expect(sockets()).toEqual([]);
  const third = await lock();
  expect(third.ok).toBe(true);
  release(first); // a second release: this lock no longer holds the folder
  expect(sockets()).toHaveLength(1);
  release(third);
});

it('a socket is its owner’s alone from the moment it is there, whatever the mask is', async () => {
  const before = process.umask(0);
  try {
    const pendingLock = lock();
    const [early = ''] = sockets();
    expect(early).toMatch(/\.new$/);
    expect(statSync(join(folder, early)).mode & 0o777).toBe(0o600);
    release(await pendingLock);
    expect(process.umask(0)).toBe(0);
  } finally {
    process.umask(before);
  }
});

it('a holder that is killed is followed at once', async () => {
  const other = await holder();
  expect(await lock()).toMatchObject({ ok: false, holder: { pid: other.pid, version: 'other' } });
  await end(other);
  expect(sockets()).toHaveLength(1);
  const folderLock = await lock();
  // A process that is silent until the time-out would count as a holder.
  expect(folderLock.ok).toBe(true);
  expect(sockets()).toHaveLength(1);
  release(folderLock);
});

it('a holder that is stopped is a holder, and does not say who it is', async () => {
  const other = await holder();
  other.kill('SIGSTOP');
  expect(await lock()).toEqual({ ok: false });
  other.kill('SIGCONT');
  expect(await lock()).toMatchObject({ ok: false, holder: { pid: other.pid } });
});

it('a holder that is killed while it is asked is none', async () => {
  const other = await holder();
  other.kill('SIGSTOP');
  const pendingLock = lock();
  await expect.poll(() => sockets().length).toBe(2);
  await end(other);
  const folderLock = await pendingLock;
  expect(folderLock.ok).toBe(true);
  release(folderLock);
});

it('of many that want a folder at the same moment one gets it, whatever the dead have left', async () => {
  for (let round = 0; round < 20; round++) {
    writeFileSync(join(folder, `agent-${String(round).padStart(16, '0')}.lock`), 'no socket');
    writeFileSync(join(folder, `agent-${String(round).padStart(16, 'f')}.lock.new`), '');
    const locks = await Promise.all(Array.from({ length: 8 }, () => lock()));
    const heldLocks = locks.filter(({ ok }) => ok);
    expect(heldLocks).toHaveLength(1);
    // On a busy machine an answer may be late; the result then does not name the holder.
    expect(
      locks.flatMap((folderLock) => (folderLock.ok ? [] : (folderLock.holder?.pid ?? process.pid))),
    ).toEqual(Array(7).fill(process.pid));
    expect(sockets()).toHaveLength(1);
    heldLocks.forEach(release);
    expect(sockets()).toEqual([]);
  }
});

it('who has given way does not hold the folder, though it sees nobody else', async () => {
  for (let round = 0; round < 10; round++) {
    const connections: Socket[] = [];
    const slow = createServer((socket) => connections.push(socket.resume())).listen(
      join(folder, 'agent-0000000000000000.lock'),
    );
    await once(slow, 'listening');
    const early = lock();
    await expect.poll(() => connections.length).toBe(1); // it has looked for others
    const late = lock();
    await expect.poll(() => connections.length).toBe(2);
    for (const socket of connections) socket.end('{"kind":"gives-way"}');
    const locks = await Promise.all([early, late]);
    expect(locks.filter(({ ok }) => ok)).toHaveLength(1);
    locks.forEach(release);
    slow.close();
    await once(slow, 'close');
  }
});

it('a path that is too long for a socket can be held', async () => {
  const long = join(folder, ...Array.from({ length: 4 }, () => 'a'.repeat(60)));
  mkdirSync(long, { recursive: true });
  const folderLock = await lockFolder(long, 'test');
  expect(folderLock.ok).toBe(true);
  expect(await lockFolder(long, 'test')).toMatchObject({ ok: false, holder: { pid: process.pid } });
  release(folderLock);
  expect(readdirSync(long)).toEqual([]);
});

it('what is asked without a name is not an agent: nobody gives way to it', async () => {
  const folderLock = await lock();
  const socket = connect(join(folder, sockets()[0] ?? ''));
  socket.write('{}');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(JSON.parse(String(answer))).toMatchObject({ kind: 'held', holder: { pid: process.pid } });
  socket.destroy();
  release(folderLock);
});

it('if there can be no socket it says why', async () => {
  await expect(lockFolder('/proc/self', 'test')).rejects.toThrow(/EACCES|EPERM|ENOENT|ENOTSUP/);
  await expect(lockFolder(join(folder, 'absent'), 'test')).rejects.toThrow('ENOENT');
});
