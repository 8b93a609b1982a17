import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { ask } from '../support/ask.ts';
import { leftOut } from '../support/left-out.ts';
import { containerFile, type Image, makeImage, wordsOf } from '../support/e2e/image.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

const file = DockerfileParser.parse(containerFile);

describe('deploy/Containerfile', () => {
  it('is in order for a linter', () => {
    expect(
      validate(containerFile).map(({ message, range }) => ({
        message,
        line: range.start.line + 1,
      })),
    ).toEqual([]);
  });

  it('has the Envoy that is tested, the agent, its folder and its ports', () => {
    expect(containerFile).toContain(`envoy:v${pinnedEnvoy.version} `);
    expect(containerFile).toContain(`pilot-agent:${packageJson.version} `);
    expect(containerFile).toContain(` ${flags.configPath.default}\n`);
    expect(wordsOf(file, 'WORKDIR')).toEqual(['/']);
    expect(wordsOf(file, 'EXPOSE')).toEqual([flags.statusPort.default, '15021', '15090']);
    expect([...wordsOf(file, 'ENTRYPOINT'), ...wordsOf(file, 'CMD')]).toEqual([
      'tini',
      '--',
      'pilot-agent',
      'proxy',
      'sidecar',
    ]);
  });
});

/**
 * Returns a script that enters the image. Its root is read-only, except for the folder of a rig.
 * The entry of the image replaces Node and the program of this machine, which a rig starts.
 */
const enter = (entry: readonly string[]) => `set -e
root=$0 folder=$1 user=$2
shift ${2 + program.length}
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$folder" "$root$folder"
mount -o remount,bind,ro "$root"
cd /
exec chroot --userspec="$user" "$root" ${entry.join(' ')} "$@"`;
const canMount = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;
const hasTini = existsSync('/usr/bin/tini-static');
if (!canMount) leftOut('The image without a shell: it needs mounts and namespaces');
else if (!hasTini) leftOut('The image without a shell: there is no tini', 'a program');

describe.runIf(canMount && hasTini)('the image', () => {
  let rig: Rig;
  let image: Image | undefined;
  beforeEach(async () => {
    rig = await makeRig();
    const envoy = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
      encoding: 'utf8',
    }).trim();
    image = makeImage(envoy);
  });
  afterEach(async () => {
    for (const pid of rig.envoys()) process.kill(pid, 'SIGKILL'); // a change of users has undone --kill-child
    await rig.dispose();
    image?.dispose();
  });

  it('has no shell; the agent starts Envoy in it, hot-restarts it and ends, for a user without rights and a read-only root', async ({
    skip,
  }) => {
    if (image === undefined) return skip(); // the image has no guard; the skip is reported
    const { root, user, entry, programs } = image;
    expect(
      programs.filter((name) => !/\/(?:envoy|tini|node|pilot-agent(?:-guard)?)$/.test(name)),
    ).toEqual([]);
    mkdirSync(join(root, rig.folder), { recursive: true });
    execFileSync('chown', ['-R', user, rig.folder]);
    const unshared = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c'];
    const agent = rig.start([], { wrap: [...unshared, enter(entry), root, rig.folder, user] });
    await agent.said('epoch.live', 0);
    expect(
      agent.log().filter(({ event }) => ['tool.missing', 'agent.process_one'].includes(event)),
    ).toEqual([]);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    const [envoy = 0] = rig
      .envoys()
      .filter((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith('/envoy'));
    const status = readFileSync(`/proc/${envoy}/status`, 'utf8');
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(user.split(':')[0]);
    expect(/^CapEff:\s+(\w+)/m.exec(status)?.[1]).toMatch(/^0+$/);
    writeCertificates(rig.certDir, await rig.ca.issue());
    execFileSync('chown', ['-R', user, rig.certDir]);
    await agent.said('epoch.live', 1);
    expect((await ask(rig.ports.status, '/healthz/ready')).status).toBe(200);
    const [init = 0] = rig
      .envoys()
      .filter((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith('/tini'));
    process.kill(init, 'SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(agent.log().at(-1)?.event).toBe('agent.ended');
    expect(rig.envoys()).toEqual([]);
  });
});
