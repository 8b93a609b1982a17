import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogLine } from '../../../../../src/shared/log/log-line.ts';
import { reserveBaseId, sharedMemoryOf } from '../../../../../src/proxy/base-ids.ts';
import { staleEnvoys, startTime } from '../../../../../src/proxy/proc.ts';
import { findDetachTools, takeOver } from '../../../../../src/pilot-agent/run/start/take-over.ts';

describe('what an agent that is gone has left', () => {
  let folder: string;
  let addressFile: string;
  let baseId: number;
  let lines: LogLine[];
  const processes: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-agent-take-over-'));
    addressFile = join(folder, 'envoy-admin-address');
    const reserved = reserveBaseId();
    reserved.release();
    baseId = reserved.baseId;
    lines = [];
    writeFileSync(sharedMemoryOf(baseId), '');
  });
  afterEach(() => {
    vi.restoreAllMocks();
    for (const child of processes.splice(0)) child.kill('SIGKILL');
    rmSync(sharedMemoryOf(baseId), { force: true });
    rmSync(folder, { recursive: true });
  });

  /** Starts a process that looks like an Envoy by its arguments. */
  async function envoy(file = addressFile, uid?: number): Promise<ChildProcess> {
    const options = [
      '--restart-epoch',
      '0',
      '--base-id',
      String(baseId),
      '--admin-address-path',
      file,
    ];
    const started = spawn(
      'sh',
      ['-c', 'echo up; read -r _', 'envoy', ...options],
      uid === undefined ? {} : { uid },
    );
    processes.push(started);
    await once(started.stdout, 'data');
    return started;
  }
  const run = (keep: boolean) =>
    takeOver({
      tools: keep ? findDetachTools(process.env['PATH']) : undefined,
      folder,
      addressFile,
      log: (line) => lines.push(line),
    });
  const killed = () =>
    lines.flatMap(({ event, ...line }) => (event === 'envoy.orphan_killed' ? [line['pid']] : []));

  it('is killed, with its shared memory, and what is not of this folder is left alone', async () => {
    const [orphan, other] = [
      await envoy(),
      await envoy(join(tmpdir(), 'another', 'envoy-admin-address')),
    ];
    expect(await run(false)).toBe(undefined);
    expect((await once(orphan, 'exit'))[1]).toBe('SIGKILL');
    expect(killed()).toEqual([orphan.pid]);
    expect(existsSync(sharedMemoryOf(baseId))).toBe(false);
    expect(other.exitCode ?? other.signalCode).toBe(null);
  });

  it('may end by itself before it is killed', async () => {
    const orphan = await envoy();
    vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    });
    expect(await run(false)).toBe(undefined);
    expect(killed()).toEqual([orphan.pid]);
    expect(existsSync(sharedMemoryOf(baseId))).toBe(false);
  });

  it('ends the agent if it cannot be killed', async () => {
    await envoy();
    vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    await expect(run(false)).rejects.toThrow('cannot be killed');
  });

  it('of another user takes nothing with it that is not its own', async () => {
    if (process.getuid?.() !== 0) return;
    const other = await envoy(addressFile, 65_534);
    await run(false);
    expect((await once(other, 'exit'))[1]).toBe('SIGKILL');
    expect(existsSync(sharedMemoryOf(baseId))).toBe(true);
    const orphan = await envoy(addressFile, 65_534);
    const listedEnvoys = staleEnvoys(addressFile, '');
    expect(listedEnvoys.map(({ pid }) => pid)).toEqual([orphan.pid]);
    process.seteuid?.(65_533);
    try {
      expect(staleEnvoys(addressFile, '')).toEqual([]);
    } finally {
      process.seteuid?.(0);
    }
  });

  it('is adopted if it was left on purpose, and only that: all others are killed', async () => {
    const [before, kept, after] = [await envoy(), await envoy(), await envoy()];
    const record = {
      epoch: 3,
      restartEpoch: 0,
      lineage: 0,
      pid: kept.pid,
      baseId,
      socketPath: '',
      startTime: startTime(kept.pid ?? 0),
      addressFile,
    };
    writeFileSync(join(folder, 'envoy-kept.json'), JSON.stringify([record]), { mode: 0o600 });
    expect((await run(true))?.adopted).toEqual([record]);
    expect(killed().toSorted()).toEqual([before.pid, after.pid].toSorted());
    expect(kept.exitCode ?? kept.signalCode).toBe(null);
  });
});
