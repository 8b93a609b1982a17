import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noRoomFor, memory } from '../../../src/proxy/memory.ts';
let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'pilot-agent-memory-'))));
afterEach(() => rmSync(root, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
}

describe('memory', () => {
  it('is unknown if there is no control group', () => {
    expect(memory(root)).toBe(undefined);
  });

  it('reads version 2: the lowest limit on the way up, what cannot be given back, and the kills', () => {
    write({
      'proc/self/cgroup': '0::/pod/container',
      'sys/fs/cgroup/pod/memory.max': '1000',
      'sys/fs/cgroup/pod/container/memory.max': 'max',
      'sys/fs/cgroup/pod/container/memory.current': '700',
      'sys/fs/cgroup/pod/container/memory.stat': 'anon 400\ninactive_file 200\nactive_file 100',
      'sys/fs/cgroup/pod/container/memory.events': 'low 0\noom 4\noom_kill 3\noom_group_kill 0',
    });
    expect(memory(root)).toEqual({ limit: 1000, used: 500, oomKills: 3 });
  });

  it('reads version 1, beside a version 2 that has no memory', () => {
    write({
      'proc/self/cgroup': '5:cpu,memory:/a\n0::/a',
      'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '2000',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
      'sys/fs/cgroup/memory/a/memory.usage_in_bytes': '800',
      'sys/fs/cgroup/memory/a/memory.stat': 'inactive_file 1\ntotal_inactive_file 300',
      'sys/fs/cgroup/memory/a/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1',
    });
    expect(memory(root)).toEqual({ limit: 2000, used: 500, oomKills: 1 });
  });

  it('finds its files at the top if the path is that of the host', () => {
    write({
      'proc/self/cgroup': '0::/../../kubepods/pod/container',
      'sys/fs/cgroup/memory.max': '1000',
      'sys/fs/cgroup/memory.current': '300',
      'sys/fs/cgroup/memory.events': 'oom_kill 0',
    });
    expect(memory(root)).toEqual({ limit: 1000, used: 300, oomKills: 0 });
  });

  it.each([
    { container: '1500', pod: '1000', limit: 1000 },
    { container: '800', pod: '1000', limit: 800 },
  ])('takes the lowest of several limits: $container in $pod', ({ container, pod, limit }) => {
    write({
      'proc/self/cgroup': '0::/pod/container',
      'sys/fs/cgroup/pod/memory.max': pod,
      'sys/fs/cgroup/pod/container/memory.max': container,
      'sys/fs/cgroup/pod/container/memory.current': '300',
    });
    expect(memory(root)?.limit).toBe(limit);
  });

  it('has no limit if nobody sets one', () => {
    write({
      'proc/self/cgroup': '0::/',
      'sys/fs/cgroup/memory.max': 'max',
      'sys/fs/cgroup/memory.current': '300',
    });
    expect(memory(root)).toEqual({ limit: undefined, used: 300, oomKills: undefined });
  });
});

describe('crowded', () => {
  const mebibytes = (count: number) => count * 2 ** 20;
  const limited = { limit: mebibytes(200), used: mebibytes(100), oomKills: 0 };

  it('is nothing without a limit', () => {
    expect(noRoomFor(undefined, mebibytes(4_000))).toBe(undefined);
    expect(noRoomFor({ ...limited, limit: undefined }, mebibytes(4_000))).toBe(undefined);
  });

  it('leaves a share of the limit free', () => {
    expect(noRoomFor(limited, mebibytes(90))).toBe(undefined);
    expect(noRoomFor(limited, mebibytes(91))).toBe(
      'a second Envoy needs about 91 MiB, and 90 of 200 MiB are free',
    );
  });
});
