import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type ReservedBaseId, reserveBaseId, sharedMemoryOf } from '../../../src/proxy/base-ids.ts';
import { leftOut } from '../../support/left-out.ts';

/** A number above all that an agent draws. */
const base = 600_000_000 + process.pid * 10;
const drawing = (...ids: readonly number[]) => {
  const left = [...ids];
  return () => base + (left.shift() ?? expect.unreachable('too many draws'));
};
const reservations = (id?: number) =>
  readdirSync('/dev/shm').filter((name) =>
    name.startsWith(
      id === undefined ? `pilot-agent-${String(base).slice(0, -1)}` : `pilot-agent-${base + id}-`,
    ),
  );

const reservedBaseIds: ReservedBaseId[] = [];
const children: ChildProcess[] = [];
const files: string[] = [];
const reserve = (...ids: readonly number[]) => {
  const reserved = reserveBaseId(drawing(...ids));
  reservedBaseIds.push(reserved);
  return reserved.baseId - base;
};
afterEach(async () => {
  for (const reservedBaseId of reservedBaseIds.splice(0)) reservedBaseId.release();
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  for (const file of files.splice(0)) rmSync(file, { force: true });
  for (const name of reservations()) rmSync(`/dev/shm/${name}`);
});

/**
 * Starts another process that draws these, and reports which it got; `enter` is put before its
 * command.
 */
async function another(
  ids: readonly number[],
  enter: readonly string[] = [],
): Promise<{ readonly child: ChildProcess; readonly got: number }> {
  const code = `const { reserveBaseId } = await import(${JSON.stringify(resolve('src/proxy/base-ids.ts'))});
    const ids = ${JSON.stringify(ids)};
    const draw = () => {
      if (ids.length === 0) throw new Error('too many draws');
      return ${base} + ids.shift();
    };
    console.log(reserveBaseId(draw).baseId - ${base});
    setInterval(() => undefined, 1000);`;
  const command: readonly string[] = [
    ...enter,
    process.execPath,
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    code,
  ];
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, got: Number(String(output)) };
}

describe('a base id', () => {
  it('is drawn, and reserved for its owner alone until it is let go of', () => {
    expect(reserve(1)).toBe(1);
    const [name = ''] = reservations(1);
    expect(statSync(`/dev/shm/${name}`).mode & 0o777).toBe(0o600);
    expect(reserve(1, 2)).toBe(2);
    for (const reservedBaseId of reservedBaseIds) reservedBaseId.release();
    expect(reservations()).toEqual([]);
    expect(reserve(1)).toBe(1);
  });

  it.each([0, 1, 9])(
    'is another one if there is shared memory of its epochs already (%i)',
    (offset) => {
      const file = `/dev/shm/envoy_shared_memory_${(base + 1) * 10 + offset}`;
      files.push(file);
      writeFileSync(file, '');
      expect(reserve(1, 2)).toBe(2);
    },
  );

  it('minds neither neighbours nor names that only look alike', () => {
    for (const id of [base * 10 + 9, (base + 2) * 10])
      files.push(`/dev/shm/envoy_shared_memory_${id}`);
    files.push(
      `/dev/shm/my_envoy_shared_memory_${(base + 1) * 10}`,
      `/dev/shm/pilot-agent-${base + 1}`,
    );
    for (const file of files) writeFileSync(file, '');
    expect(reserve(1)).toBe(1);
  });

  it('is one that Envoy can multiply by ten, and is drawn at random', () => {
    const drawn = Array.from({ length: 20 }, () => {
      const reserved = reserveBaseId();
      reserved.release();
      return reserved.baseId;
    });
    for (const id of drawn)
      expect(id).toSatisfy((drawnId: number) => drawnId >= 1 && drawnId * 10 + 9 < 2 ** 31);
    expect(new Set(drawn).size).toBeGreaterThan(15);
  });

  it('is not looked for without end if somebody has taken all of them', () => {
    expect(reserve(1)).toBe(1);
    expect(() => reserveBaseId(() => base + 1)).toThrow('no base id is free in /dev/shm');
    expect(reservations()).toHaveLength(1);
  });

  it('belongs to shared memory that is named by ten times the id', () => {
    expect(sharedMemoryOf(42)).toBe('/dev/shm/envoy_shared_memory_420');
  });
});

describe('the base id of another agent', () => {
  it('is not drawn while that agent lives, and again when it is dead, however it died', async () => {
    const { child, got } = await another([1]);
    expect(got).toBe(1);
    expect(reserve(1, 2)).toBe(2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(reservations(1)).toHaveLength(1);
    expect(reserve(1, 3)).toBe(3); // the reservation of the dead process is found, and removed
    await expect.poll(() => reservations(1)).toEqual([]);
    expect(reserve(1)).toBe(1);
  });

  const namespaces = ['unshare', '--pid', '--fork', '--kill-child', '--net', '--ipc'];
  const canUnshare = spawnSync('unshare', [...namespaces.slice(1), 'true']).status === 0;
  if (!canUnshare) leftOut('two agents in namespaces of their own that share /dev/shm');

  it.skipIf(!canUnshare)(
    'is not drawn in other namespaces of processes and network that share /dev/shm',
    async () => {
      const { got } = await another([1], namespaces);
      expect(got).toBe(1);
      expect(reserve(1, 2)).toBe(2);
      expect((await another([1, 2, 3], namespaces)).got).toBe(3);
      expect(reservations(1)).toHaveLength(1); // the process lives
    },
  );

  it('is nobody else’s, whoever draws the same at the same moment', async () => {
    const same = [1, 2, 3, 4, 5];
    const lastIds = [6, 7, 8, 9]; // in step, all can lose each of the same ids
    const all = await Promise.all(lastIds.map((id) => another([...same, id])));
    expect(new Set(all.map(({ got }) => got)).size).toBe(4);
  });
});
