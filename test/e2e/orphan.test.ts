import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

/**
 * Resolves after `ms` of busy waiting and yielding, because the kill must come at an exact
 * millisecond.
 */
async function moment(ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
}

it('no Envoy and no shared memory is left 2 s after a SIGKILL of the agent, whenever in a start it comes', async () => {
  rig = await makeRig();
  for (let trial = 0; trial < 10; trial++) {
    const agent = rig.start(['--statusPort', '0']);
    await expect.poll(() => rig.envoys().length, { interval: 1 }).toBeGreaterThan(0);
    await moment(trial * 10);
    const shared = rig.sharedMemory();
    agent.kill('SIGKILL');
    await agent.exit;
    await expect.poll(() => rig.envoys(), { timeout: 2_000, interval: 5 }).toHaveLength(0);
    await expect
      .poll(() => shared.some((file) => existsSync(file)), { timeout: 2_000 })
      .toBe(false);
  }
  await rig.start().said('epoch.live', 0);
});

it('no Envoy and no shared memory is left 2 s after a SIGKILL of the agent, whenever in a hot restart it comes', async () => {
  rig = await makeRig();
  for (let trial = 0; trial < 20; trial++) {
    const agent = rig.start(['--minDelay', '0s']);
    await agent.said('epoch.live', 0);
    writeCertificates(rig.certDir, await rig.ca.issue());
    await expect.poll(() => rig.envoys().length, { interval: 1 }).toBeGreaterThan(1);
    // The kills come in the first 100 ms of the new Envoy, and then up to 0.5 s, when it is LIVE.
    await moment(trial < 12 ? trial * 9 : (trial - 10) * 60);
    const [shared = ''] = rig.sharedMemory();
    expect(existsSync(shared)).toBe(true);
    agent.kill('SIGKILL');
    await agent.exit;
    await expect.poll(() => rig.envoys(), { timeout: 2_000, interval: 5 }).toHaveLength(0);
    await expect.poll(() => existsSync(shared), { timeout: 2_000 }).toBe(false);
  }
  await rig.start().said('epoch.live', 0);
});

it('an Envoy that is stopped does not outlive its agent, nor does anything that watched over it', async () => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  const [envoy = 0] = rig.envoys();
  const guards = () => guardsOf(agent.pid);
  expect(guards()).toHaveLength(1);
  const [guard = 0] = guards();
  process.kill(envoy, 'SIGSTOP');
  agent.kill('SIGKILL');
  await agent.exit;
  await expect.poll(() => rig.envoys(), { timeout: 2_000, interval: 5 }).toHaveLength(0);
  await expect.poll(() => hasEnded(guard), { timeout: 2_000 }).toBe(true);
});

/**
 * Whether a process has ended. A zombie has ended too: its new parent has not read its exit yet.
 */
function hasEnded(pid: number): boolean {
  return !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}

/** Returns the children of an agent that wait for its end. */
function guardsOf(agent: number): readonly number[] {
  return readFileSync(`/proc/${agent}/task/${agent}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes('PILOT_AGENT_BASE_ID='));
}

it.each(['SIGSTOP', 'SIGCONT'] as const)(
  'an Envoy whose agent is gone is taken out of the way by the next start (%s)',
  async (signal) => {
    rig = await makeRig();
    const agent = rig.start([], {
      env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '0' },
    });
    await agent.said('epoch.live', 0);
    const [envoy = 0] = rig.envoys();
    // This Envoy starts from the same folder, and its parent ends at once: nothing kills it when an
    // agent dies.
    const [program = '', ...args] = readFileSync(`/proc/${envoy}/cmdline`, 'utf8')
      .split('\0')
      .slice(0, -1);
    agent.kill('SIGTERM');
    await agent.exit;
    mkdirSync(dirname(args[args.indexOf('--socket-path') + 1] ?? ''), { mode: 0o700 });
    spawnSync('sh', ['-c', '"$@" >/dev/null 2>&1 &', 'sh', program, ...args]);
    await expect.poll(() => rig.envoys()).toHaveLength(1);
    const [stale = 0] = rig.envoys();
    const [shared = ''] = rig.sharedMemory();
    await expect.poll(() => existsSync(shared)).toBe(true);
    process.kill(stale, signal);
    const next = rig.start();
    expect(await next.said('envoy.orphan_killed')).toMatchObject({ pid: stale });
    await next.said('epoch.live', 0);
    expect(rig.envoys()).not.toContain(stale);
    expect(existsSync(shared)).toBe(false);
  },
);
