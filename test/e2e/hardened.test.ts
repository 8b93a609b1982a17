import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

const user = '1337';
const seccomp = resolve('test/support/e2e/seccomp.py');
const isPermitted =
  spawnSync('unshare', ['--mount', 'setpriv', '--reuid', user, '--clear-groups', 'true']).status ===
  0;
if (!isPermitted) leftOut('a read-only root, without capabilities, under a filter of system calls');

/**
 * Returns a command that runs a program as a hardened cluster does: only `writable` can be written,
 * the user is not root, there are no capabilities, and a filter denies system calls that containers
 * should not make.
 */
const hardened = (writable: readonly string[], setUp = 'true') => [
  'unshare',
  '--mount',
  'sh',
  '-c',
  [
    ...writable.map((path) => `mount --bind ${path} ${path}`),
    'mount -o remount,bind,ro /',
    setUp,
    `exec python3 ${seccomp} setpriv --reuid ${user} --regid ${user} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`,
  ].join(' && '),
  'sh',
];

let rig: Rig;
let run: string;
let envoy: string;
beforeEach(async () => {
  rig = await makeRig();
  run = join(rig.folder, 'run');
  envoy = join(rig.folder, 'envoy');
  mkdirSync(run);
  copyFileSync(
    execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
      encoding: 'utf8',
    }).trim(),
    envoy,
  );
  chmodSync(envoy, 0o755);
  giveToUser();
});
afterEach(() => rig.dispose());

function giveToUser(): void {
  execFileSync('chown', ['-R', `${user}:${user}`, rig.folder]);
}

const statusField = (pid: number, name: string) =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

it.skipIf(!isPermitted)(
  'runs with a read-only root, as any user, without capabilities, under a filter of system calls: nothing is missing',
  async () => {
    const agent = rig.start(['--binaryPath', envoy], { wrap: hardened([run]), cwd: rig.folder });
    await agent.said('epoch.live', 0);
    expect(
      ['Uid', 'CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp'].map((name) =>
        statusField(agent.pid, name),
      ),
    ).toEqual([user, '0000000000000000', '0000000000000000', '1', '2']);
    const load = startLoad({
      port: rig.ports.listen,
      tls: { ca: rig.ca.rootCert },
      mode: 'new-connection',
      clients: 2,
      maxDuration: 60_000,
    });
    const next = await rig.ca.issue();
    const newFolder = join(rig.folder, 'fresh');
    mkdirSync(newFolder);
    writeCertificates(newFolder, next);
    giveToUser();
    for (const name of readdirSync(newFolder))
      renameSync(join(newFolder, name), join(rig.certDir, name));
    await agent.said('epoch.live', 1);
    await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(next.serial);
    expect(
      agent.log().filter(({ level, component }) => level !== 'info' && component !== 'envoy.main'),
    ).toEqual([]);
    for (const pid of rig.envoys().filter((envoyPid) => statusField(envoyPid, 'Name') === 'envoy'))
      process.kill(pid, 'SIGKILL');
    await agent.said('epoch.live', 2);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    await load.stop();
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(agent.errors()).toBe('');
  },
);

it.skipIf(!isPermitted)(
  'says in one line that Envoy cannot start if nothing can be written into /dev/shm',
  async () => {
    const readOnly = 'mount --bind /dev/shm /dev/shm && mount -o remount,bind,ro /dev/shm';
    const agent = rig.start(['--binaryPath', envoy], {
      wrap: hardened([run], readOnly),
      cwd: rig.folder,
    });
    expect(await agent.exit).toEqual({ code: 69, signal: null });
    expect(agent.errors()).toMatch(
      /^pilot-agent: Envoy cannot be started: [^\n]*read-only file system, access '\/dev\/shm'[^\n]*\n$/,
    );
  },
);
