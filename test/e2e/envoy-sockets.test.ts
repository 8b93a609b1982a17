import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { leftOut } from '../support/left-out.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let network: Network | undefined;
afterEach(async () => {
  await rig.dispose();
  network?.dispose();
  network = undefined;
});

const run = () => join(rig.folder, 'run');
/** Returns the value of an option in the arguments of the newest Envoy. */
const option = (name: string) => {
  const args = rig.envoys().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
  const envoy = args.findLast((all) => all.includes('--restart-epoch')) ?? [];
  return envoy[envoy.indexOf(name) + 1] ?? '';
};
/** Returns what an agent that used this base id has left in /dev/shm. */
const left = (baseId: string) =>
  readdirSync('/dev/shm').filter(
    (name) => name.includes(`-${baseId}-`) || name.endsWith(`_${baseId}0`),
  );

/**
 * A program that connects to each socket, and prints the result. A parent there would send its
 * listeners to another user who connects.
 */
const attack = `import socket, sys
for path in sys.argv[1:]:
  try:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(path)
    print('open')
  except OSError as error:
    print(error.strerror)`;
const attackers = [
  'setpriv',
  '--reuid',
  '65534',
  '--regid',
  '65534',
  '--clear-groups',
  '/usr/bin/python3',
  '-c',
  attack,
];
const canAttack =
  process.getuid?.() === 0 &&
  spawnSync('setpriv', [...attackers.slice(1, -2), '-c', '']).status === 0;
if (!hasNetworks || !canAttack) leftOut('another user who wants the sockets of a hot restart');

describe('the sockets by which the Envoys of a hot restart meet', () => {
  it.skipIf(!hasNetworks || !canAttack)(
    'are not in the network, and are their owner’s alone, until the last epoch has ended',
    async () => {
      network = makeNetwork();
      rig = await makeRig();
      chmodSync(rig.folder, 0o755);
      mkdirSync(run(), { mode: 0o755 }); // other users may list it
      const { enter } = network.place('pod', []);
      const agent = rig.start([], {
        wrap: enter,
        env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '0' },
      });
      await agent.said('epoch.live', 0);
      writeCertificates(rig.certDir, await rig.ca.issue());
      await agent.said('epoch.live', 1);

      const [file = '', ...args] = enter;
      const table = execFileSync(file, [...args, 'cat', '/proc/net/unix'], { encoding: 'utf8' });
      expect(table).not.toContain('@envoy');
      const folder = dirname(option('--socket-path'));
      expect(dirname(folder)).toBe(run());
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      const sockets = readdirSync(folder).map((name) => join(folder, name));
      expect(sockets.length).toBeGreaterThanOrEqual(8);
      expect(new Set(sockets.map((path) => statSync(path).mode & 0o777))).toEqual(new Set([0o600]));
      const [user = '', ...command] = attackers;
      const answers = execFileSync(user, [...command, ...sockets], { encoding: 'utf8' })
        .trim()
        .split('\n');
      expect(new Set(answers)).toEqual(new Set(['Permission denied']));

      const baseId = option('--base-id');
      expect(left(baseId)).toHaveLength(2);
      agent.kill('SIGTERM');
      expect(await agent.exit).toEqual({ code: 0, signal: null });
      expect([readdirSync(run()), left(baseId)]).toEqual([['ended.json'], []]);
    },
  );

  it('are in a folder of their own if that of the agent has too long a path, and hot restarts work', async () => {
    rig = await makeRig();
    const long = join(rig.folder, 'x'.repeat(90 - rig.folder.length));
    const agent = rig.start(['--configPath', long], {
      env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '0' },
    });
    await agent.said('epoch.live', 0);
    const folder = dirname(option('--socket-path'));
    expect(dirname(folder)).toBe(tmpdir());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch.live', 1);
    expect(agent.log().filter(({ event }) => event === 'rescue.started')).toEqual([]);
    agent.kill('SIGTERM');
    await agent.exit;
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['short', 'long'])(
    'are removed with what else is left, when the agent is killed (%s)',
    async (path) => {
      rig = await makeRig();
      const folder =
        path === 'short' ? run() : join(rig.folder, 'x'.repeat(90 - rig.folder.length));
      const agent = rig.start(['--configPath', folder]);
      await agent.said('epoch.live', 0);
      const [sockets, baseId] = [dirname(option('--socket-path')), option('--base-id')];
      agent.kill('SIGKILL');
      await expect.poll(() => [existsSync(sockets), left(baseId)]).toEqual([false, []]);
    },
  );

  it('are found if nobody could remove them, and removed by the next agent', async () => {
    rig = await makeRig();
    const bin = join(rig.folder, 'bin');
    mkdirSync(bin);
    // Without a shell, nothing removes the sockets.
    const agent = rig.start([], { env: { PATH: bin } });
    await agent.said('epoch.live', 0);
    const [sockets, baseId] = [dirname(option('--socket-path')), option('--base-id')];
    agent.kill('SIGKILL');
    await agent.exit;
    expect(readdirSync(sockets)).not.toEqual([]);
    await rig.start().said('epoch.live', 0);
    expect(existsSync(sockets)).toBe(false);
    await expect
      .poll(() => left(baseId).filter((name) => name.startsWith('pilot-agent')))
      .toEqual([]);
    for (const name of left(baseId)) execFileSync('rm', [`/dev/shm/${name}`]);
  });
});
