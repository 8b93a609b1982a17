import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import type { LogEvent } from '../../src/shared/log/log-event.ts';
import { sharedMemoryOf } from '../../src/proxy/base-ids.ts';
import { startLoad } from '../support/load.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
const baseIds = new Set<number>();
afterEach(async () => {
  await rig.dispose();
  // The shared memory of an Envoy that was killed stays.
  for (const baseId of baseIds) rmSync(sharedMemoryOf(baseId), { force: true });
});

const keep = ['--keepEnvoy', '--minDelay', '0s'];
const env = { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1' };

interface Kept {
  readonly epoch: number;
  readonly pid: number;
  readonly baseId: number;
  readonly socketPath: string;
}

const run = (name = '') => join(rig.folder, 'run', name);
const kept = () => {
  const all = JSON.parse(readFileSync(run('envoy-kept.json'), 'utf8')) as readonly Kept[];
  for (const { baseId } of all) baseIds.add(baseId);
  return all;
};
const quit = () => rig.post(rig.ports.status, '/quitquitquit');

it('an upgrade of the agent loses no request: SIGTERM ends the agent alone, the next one hot-restarts its Envoy, and both end together', async () => {
  rig = await makeRig();
  const before = rig.start([...keep, '--log_output_level', 'default:debug'], { env });
  await before.said('epoch.live', 0);
  const to = { port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, clients: 4 };
  const loads = [
    startLoad({ ...to, mode: 'keep-alive' }),
    startLoad({ ...to, mode: 'new-connection', pause: 20 }),
  ];
  const sent = () => Math.min(...loads.map(({ counts }) => counts.ok));

  before.kill('SIGTERM');
  expect(await before.exit).toEqual({ code: 0, signal: null });
  const [old] = kept();
  expect(before.log().find(({ event }) => event === 'epoch.left')).toMatchObject({
    epoch: 0,
    pid: old?.pid,
  });
  const alone = sent();
  await expect.poll(() => sent()).toBeGreaterThan(alone + 50);

  const after = rig.start(keep, { env });
  expect(await after.said('epoch.adopted')).toMatchObject({ epoch: 0, pid: old?.pid });
  await after.said('epoch.live', 1);
  await after.said('epoch.ended', 0);
  expect(existsSync(`/proc/${old?.pid ?? 0}`)).toBe(false);
  expect((await rig.ready()).status).toBe(200);
  expect(kept()).toMatchObject([{ epoch: 1, restartEpoch: 1, baseId: old?.baseId }]);
  const served = sent();
  await expect.poll(() => sent()).toBeGreaterThan(served + 50);
  const results = await Promise.all(loads.map((load) => load.stop()));
  expect(results.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
    [0, []],
    [0, []],
  ]);

  expect(await quit()).toBe(200);
  expect(await after.exit).toEqual({ code: 0, signal: null });
  await expect.poll(() => rig.envoys()).toHaveLength(0);
  expect(readdirSync(run()).sort()).toEqual(['ended.json', 'envoy.log']);
  expect(existsSync(sharedMemoryOf(old?.baseId ?? 0))).toBe(false);
});

it('an agent that is killed in the middle of a hot restart leaves both Envoys, and the next one goes on with them', async () => {
  rig = await makeRig();
  // This is longer than the next agent takes to start, because epoch 0 must still run then.
  const flags = [...keep, '--parentShutdownDuration', '6s'];
  const before = rig.start([...flags, '--log_output_level', 'default:debug'], { env });
  await before.said('epoch.live', 0);
  writeCertificates(rig.certDir, await rig.ca.issue());
  await before.said('epoch.started', 1);
  before.kill('SIGKILL');
  await before.exit;
  const [parent, child] = kept();
  const after = rig.start(flags, { env });
  await after.said('epoch.adopted', 1);
  await after.said('epoch.live', 1);
  await after.said('epoch.ended', 0);
  await after.said('epoch.live', 2);
  const unwanted: readonly LogEvent[] = [
    'epoch.hung',
    'epoch.not_drained',
    'envoy.orphan_killed',
    'rescue.started',
  ];
  expect(after.log().filter(({ event }) => unwanted.includes(event))).toEqual([]);
  await after.said('epoch.ended', 1);
  expect([parent, child].filter((envoy) => existsSync(`/proc/${envoy?.pid ?? 0}`))).toEqual([]);
  await quit();
  await after.exit;
  await expect.poll(() => rig.envoys()).toHaveLength(0);
});

it('if the next agent finds a configuration that is refused, the kept Envoy goes on serving, and readiness says so', async () => {
  rig = await makeRig();
  const before = rig.start(keep, { env });
  await before.said('epoch.live', 0);
  before.kill('SIGINT');
  await before.exit;
  const good = readFileSync(rig.config, 'utf8');
  writeFileSync(rig.config, '{"static_resources": {"listeners": 7}}');
  const after = rig.start(keep, { env });
  await after.said('config.refused');
  await expect.poll(async () => (await rig.ready()).status).toBe(200);
  expect((await rig.ready()).status).toBe(200);
  const epochs = await (await fetch(`http://127.0.0.1:${rig.ports.status}/debug/epochs`)).json();
  expect(epochs).toMatchObject({
    epochs: [{ epoch: 0, state: 'live', why: 'adopted' }],
    refused: {},
  });
  writeFileSync(rig.config, good);
  await after.said('epoch.live', 1);
});

it('what is in the list but is another process, and what is not a list, are stale: the Envoy is killed, and a new one started', async () => {
  rig = await makeRig();
  for (const list of ['garbage', undefined]) {
    const before = rig.start(keep, { env });
    await before.said('epoch.live');
    before.kill('SIGKILL');
    await before.exit;
    const [old] = kept();
    writeFileSync(run('envoy-kept.json'), list ?? JSON.stringify([{ ...old, startTime: '1' }]));
    const after = rig.start(keep, { env });
    expect(await after.said('envoy.orphan_killed')).toMatchObject({ pid: old?.pid });
    await after.said('epoch.live', 0);
    await quit();
    await after.exit;
  }
  await expect.poll(() => rig.envoys()).toHaveLength(0);
});

it('an Envoy that was kept is killed by an agent that keeps none', async () => {
  rig = await makeRig();
  const before = rig.start(keep, { env });
  await before.said('epoch.live', 0);
  before.kill('SIGTERM');
  await before.exit;
  const [old] = kept();
  const after = rig.start([], { env });
  expect(await after.said('envoy.orphan_killed')).toMatchObject({ pid: old?.pid });
  await after.said('epoch.live', 0);
});

it('a second agent that wants the same Envoy is told that it has one', async () => {
  rig = await makeRig();
  await rig.start(keep, { env }).said('epoch.live', 0);
  const second = rig.start([...keep, '--statusPort', '0'], { env });
  expect(await second.exit).toEqual({ code: 69, signal: null });
  expect(second.errors()).toMatch(
    /^pilot-agent: --configPath \S+ belongs to another agent \(process \d+, .+\n$/,
  );
  expect((await rig.ready()).status).toBe(200);
});

it('without setsid the flag is refused', async () => {
  rig = await makeRig();
  const bin = join(rig.folder, 'bin');
  mkdirSync(bin);
  for (const name of ['sh', 'mkfifo', 'setpriv'])
    symlinkSync(findExecutable(name, process.env['PATH']) ?? '', join(bin, name));
  const agent = rig.start(keep, { env: { PATH: bin } });
  expect(await agent.exit).toEqual({ code: 69, signal: null });
  expect(agent.errors()).toBe(
    'pilot-agent: --keepEnvoy needs setsid (util-linux) and sh in PATH (docs/troubleshooting.md#exit-69)\n',
  );
});

it('an Envoy that is kept is started again when it crashes, and its log is its owner’s alone', async () => {
  rig = await makeRig();
  const agent = rig.start(keep, { env });
  await agent.said('epoch.live', 0);
  const [first] = kept();
  process.kill(first?.pid ?? 0, 'SIGKILL');
  expect(await agent.said('epoch.failed')).toMatchObject({ epoch: 0, signal: 'SIGKILL' });
  await agent.said('epoch.live', 1);
  const files = ['envoy.log', 'envoy-kept.json'];
  expect(files.map((name) => statSync(run(name)).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(readFileSync(run('envoy.log'), 'utf8')).toContain('\tenvoy main\t');
  renameSync(run('envoy.log'), run('envoy.log.1'));
  agent.kill('SIGUSR1');
  await expect.poll(() => existsSync(run('envoy.log'))).toBe(true);
  await quit();
  await agent.exit;
  expect(readFileSync(run('envoy.log'), 'utf8')).toContain('caught ENVOY_SIGTERM');
  expect(statSync(run('envoy.log')).mode & 0o777).toBe(0o600);
});

it.each<[what: string, put: (path: string) => unknown]>([
  ['a link to a file', (path) => symlinkSync(run('theirs'), path)],
  ['a link to what is not there', (path) => symlinkSync(run('nowhere'), path)],
  ['a FIFO that nobody reads', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a file with another code', (path) => writeFileSync(path, '7\n')],
])('an Envoy that is kept is started again, if others have put %s', async (_, put) => {
  rig = await makeRig();
  mkdirSync(run());
  writeFileSync(run('theirs'), 'theirs');
  const agent = rig.start(keep, { env });
  await agent.said('epoch.live', 0);
  const [{ pid, baseId } = { pid: 0, baseId: 0 }] = kept();
  put(run(`envoy-rev0-${baseId}.exit`));
  process.kill(pid, 'SIGKILL');
  expect(await agent.said('epoch.failed')).toMatchObject({ epoch: 0 });
  await agent.said('epoch.live', 1);
  expect([readFileSync(run('theirs'), 'utf8'), existsSync(run('nowhere'))]).toEqual([
    'theirs',
    false,
  ]);
  await quit();
  expect(await agent.exit).toMatchObject({ code: 0 });
});

it('an Envoy that an earlier agent has left with abstract sockets is replaced side by side by one whose sockets are its own', async () => {
  rig = await makeRig();
  const envoy = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
    encoding: 'utf8',
  }).trim();
  const earlier = join(rig.folder, 'earlier');
  const withoutSockets = `for word; do
  shift
  case $word in --socket-path | --socket-mode) skip=1 ;; *) [ -n "$skip" ] || set -- "$@" "$word"; skip= ;; esac
done`;
  writeFileSync(earlier, `#!/bin/sh\n${withoutSockets}\nexec ${envoy} "$@"\n`, { mode: 0o755 });
  const before = rig.start([...keep, '--binaryPath', earlier], { env });
  await before.said('epoch.live', 0);
  before.kill('SIGTERM');
  await before.exit;
  const [old] = kept();
  const { socketPath, ...written } = old ?? expect.unreachable();
  expect(socketPath).toContain(run());
  writeFileSync(run('envoy-kept.json'), JSON.stringify([written]), { mode: 0o600 });
  const abstract = () =>
    readFileSync('/proc/net/unix', 'utf8').includes(
      `@envoy_domain_socket_parent_${written.baseId}0`,
    );
  expect(abstract()).toBe(true);
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'keep-alive',
    clients: 2,
  });
  const after = rig.start(keep, { env });
  expect(await after.said('epoch.adopted')).toMatchObject({ pid: written.pid });
  await after.said('epoch.live', 1);
  await after.said('epoch.ended', 0);
  const { failed, errors } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  expect(abstract()).toBe(false);
  await expect
    .poll(kept)
    .toMatchObject([
      { epoch: 1, lineage: 1, socketPath: expect.stringContaining(run()) as string },
    ]);
});

it('a kept Envoy of another hot restart version is replaced side by side', async () => {
  rig = await makeRig();
  const before = rig.start(keep, { env });
  await before.said('epoch.live', 0);
  before.kill('SIGTERM');
  await before.exit;
  const envoy = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
    encoding: 'utf8',
  }).trim();
  const other = join(rig.folder, 'other-envoy');
  writeFileSync(
    other,
    `#!/bin/sh\nif [ "$1" = --hot-restart-version ]; then echo 99.1; else exec ${envoy} "$@"; fi\n`,
    { mode: 0o755 },
  );
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'keep-alive',
    clients: 2,
  });
  const after = rig.start([...keep, '--binaryPath', other], { env });
  await after.said('rescue.started');
  await after.said('epoch.live', 1);
  await after.said('epoch.ended', 0);
  const { failed, errors } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  await expect.poll(kept).toMatchObject([{ epoch: 1, restartEpoch: 0, lineage: 1 }]);
  expect((await rig.ready()).status).toBe(200);
});

it('a first Envoy that refuses its configuration ends the agent with 78, kept or not', async () => {
  rig = await makeRig();
  writeFileSync(rig.config, '{"static_resources": {"listeners": 7}}');
  const agent = rig.start(keep, { env });
  expect(await agent.exit).toEqual({ code: 78, signal: null });
  expect(agent.errors()).toMatch(/Envoy refuses its configuration: \S/);
  expect(rig.envoys()).toEqual([]);
});
