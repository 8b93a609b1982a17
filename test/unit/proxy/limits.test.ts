import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heapLimit, overloadManager } from '../../../src/pilot-agent/bootstrap/overload.ts';
import { limits, workerThreads } from '../../../src/proxy/limits.ts';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'pilot-agent-limits-'))));
afterEach(() => rmSync(root, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
}

describe('limits', () => {
  const cpu = (given?: number) => limits(given, root, 8).cpu;

  it('are none if there is no control group', () => {
    expect(limits(undefined, root, 8)).toEqual({ cpu: undefined, memory: undefined });
  });

  it('have the lowest quota of version 2 on the way up, and the limit of memory', () => {
    write({
      'proc/self/cgroup': '0::/pod/container',
      'sys/fs/cgroup/pod/container/cpu.max': 'max 100000',
      'sys/fs/cgroup/pod/cpu.max': '150000 100000',
      'sys/fs/cgroup/cpu.max': '400000 100000',
      'sys/fs/cgroup/pod/memory.max': '1000',
      'sys/fs/cgroup/pod/memory.current': '7',
    });
    expect(limits(undefined, root, 8)).toEqual({ cpu: 1.5, memory: 1000 });
  });

  it('have the quota of version 1, at the top if the path is that of the host', () => {
    write({
      'proc/self/cgroup': '4:memory:/docker/x\n3:cpuacct,cpu:/docker/x\n0::/',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    });
    expect(cpu()).toBe(0.5);
  });

  it('are none by a quota of -1, by max, and by as much as the machine has', () => {
    write({
      'proc/self/cgroup': '1:cpu:/',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    });
    expect(cpu()).toBe(undefined);
    write({ 'proc/self/cgroup': '0::/', 'sys/fs/cgroup/cpu.max': 'max 100000' });
    expect(cpu()).toBe(undefined);
    write({ 'sys/fs/cgroup/cpu.max': '800000 100000' });
    expect(cpu()).toBe(undefined);
  });

  it('are those of ISTIO_CPU_LIMIT first, even if it is more than the machine has; 0 says nothing', () => {
    write({ 'proc/self/cgroup': '0::/', 'sys/fs/cgroup/cpu.max': '150000 100000' });
    expect([3, 12, 0].map(cpu)).toEqual([3, 12, 1.5]);
  });
});

it.each([
  { concurrency: 4, cpu: 1, workers: 4 },
  { concurrency: 0, cpu: 1, workers: 0 },
  { concurrency: undefined, cpu: 0.5, workers: 1 },
  { concurrency: undefined, cpu: 2, workers: 2 },
  { concurrency: undefined, cpu: 6.5, workers: 7 },
  { concurrency: undefined, cpu: undefined, workers: 0 },
])(
  'Envoy has $workers worker threads by a concurrency of $concurrency and a limit of $cpu cores',
  ({ concurrency, cpu, workers }) => {
    expect(workerThreads(concurrency, { cpu, memory: undefined })).toBe(workers);
  },
);

const mebibytes = (count: number) => count * (1 << 20);
it.each([
  { what: 'half of what the agent leaves, for two of them', memory: 512, heap: 201 },
  { what: 'half, if that is just enough for each', memory: 238, heap: 64 },
  { what: 'all of it, if it is not enough for two', memory: 237, heap: 127 },
  { what: 'no bounds, if nothing is left', memory: 110, heap: undefined },
])('the heap of an Envoy has $what: $memory MiB', ({ memory, heap }) => {
  expect(heapLimit(mebibytes(memory))).toBe(heap && mebibytes(heap));
});

it.each(['0', '-1', '1.5', 'many', '2147483648', '99999999999'])(
  'a limit of %s connections is none, with a warning',
  (given) => {
    const warnings: string[] = [];
    const manager = overloadManager(
      undefined,
      { GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: given },
      { warnings },
    );
    expect(manager).toMatchObject({
      resource_monitors: [{ typed_config: { max_active_downstream_connections: 2_147_483_647 } }],
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS is not/),
    ]);
  },
);

it('the heap of an Envoy has no bounds if memory is not limited', () => {
  expect(heapLimit(undefined)).toBe(undefined);
});
