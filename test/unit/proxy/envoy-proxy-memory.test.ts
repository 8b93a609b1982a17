import type * as nodeFs from 'node:fs';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type EnvoyStage, envoyStage, onward, only } from '../../support/fake-envoy.ts';

/** The files that the kernel has about the control group of the tests, if a test sets them. */
const kernel = vi.hoisted(() => new Map<string, string>());
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof nodeFs>();
  return {
    ...fs,
    readFileSync: (path: string, ...rest: readonly 'utf8'[]) =>
      kernel.get(path) ?? fs.readFileSync(path, ...rest),
  };
});

let stage: EnvoyStage;
afterEach(() => {
  stage.dispose();
  kernel.clear();
});

const check = () => only(stage.check());
const ok = { kind: 'works' };
const hasMemory = (limit: number) => {
  kernel.set('/proc/self/cgroup', '0::/of-a-test');
  kernel.set('/sys/fs/cgroup/of-a-test/memory.max', String(limit));
  kernel.set('/sys/fs/cgroup/of-a-test/memory.current', String(1 << 20));
  kernel.set('/sys/fs/cgroup/of-a-test/memory.events', 'oom_kill 0');
};

describe('while an Envoy runs, a check', () => {
  it('says that another one does not fit, without a look at the program’s version', async () => {
    hasMemory(1 << 20);
    stage = envoyStage();
    expect(await check()).toEqual(ok);
    await stage.start({});
    stage.install(`[ "$*" = --hot-restart-version ] && { echo 11.104; exit; }\n${onward}`);
    const noRoom = expect.stringMatching(
      /^a second Envoy needs about \d+ MiB, and 0 of 1 MiB are free$/,
    ) as unknown;
    expect(await check()).toEqual({ kind: 'no-room', reason: noRoom });
    expect(stage.versionAsked()).toBe(0);
  });

  it('has nothing to say if another one fits', async () => {
    hasMemory(1 << 28);
    stage = envoyStage();
    await stage.start({});
    expect(await check()).toEqual(ok);
  });

  it('lets its validation end first when memory runs short, and what serves as late as before', async () => {
    stage = envoyStage();
    const { pid } = await stage.start({});
    const validation = stage.installLasting();
    const life = stage.check().subscribe();
    const score = (processId: number | string) =>
      Number(readFileSync(`/proc/${processId}/oom_score_adj`, 'utf8'));
    expect([score(await validation()), score(pid)]).toEqual([1_000, score('self')]);
    life.unsubscribe();
  });

  it('has no verdict if the kernel ends the validation for want of memory, and says so', async () => {
    hasMemory(1 << 28);
    stage = envoyStage();
    await stage.start({});
    const validation = stage.installLasting();
    const verdict = check();
    const pid = await validation();
    kernel.set('/sys/fs/cgroup/of-a-test/memory.events', 'oom_kill 1');
    process.kill(Number(pid), 'SIGKILL');
    expect(await verdict).toEqual({
      kind: 'unchecked',
      reason: 'memory is short: Envoy was ended by SIGKILL',
      outOfMemory: true,
    });
  });
});
