import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { cacheDir, pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { leftOut } from '../support/left-out.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

/** The folder of a minimal Debian with the libraries of Node. It is made once, and kept. */
const base = join(cacheDir(process.env), 'debian-root');
const canMount = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;

function hasBase(): boolean {
  if (existsSync(base)) return true;
  const beside = `${base}.${process.pid}`;
  const isMade =
    spawnSync('debootstrap', ['--variant=minbase', '--include=libstdc++6', 'bookworm', beside], {
      stdio: 'ignore',
    }).status === 0;
  if (isMade) renameSync(beside, base);
  else rmSync(beside, { recursive: true, force: true });
  return isMade;
}

const isPossible = canMount && hasBase();
if (!canMount) leftOut('a fresh Debian with the executable: it needs mounts and namespaces');
else if (!isPossible)
  leftOut('a fresh Debian with the executable: debootstrap and a mirror', 'a program');

/**
 * A script that runs a command over its own root, whose changes vanish with it. The folder of a rig
 * is in that root.
 */
const enter = `set -e
base=$0 work=$1 folder=$2
shift 2
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$work/root"
root="$work/root"
mkdir -p "$root$folder"
mount --bind "$folder" "$root$folder"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cd /
exec chroot "$root" "$@"`;

describe.runIf(isPossible)('in a fresh Debian without Node and Python', () => {
  let rig: Rig;
  let work: string;
  beforeEach(async () => {
    rig = await makeRig();
    work = `${rig.folder}-root`;
    mkdirSync(work);
  });
  afterEach(async () => {
    for (const pid of rig.envoys()) process.kill(pid, 'SIGKILL');
    await rig.dispose();
    rmSync(work, { recursive: true });
  });

  it('the executable installs Envoy from a file, runs it, rotates, and drains', async () => {
    const inRoot = (name: string) => join(rig.folder, name);
    const envoy = execFileSync(program[0], ['envoy', 'path'], { encoding: 'utf8' }).trim();
    copyFileSync(envoy, inRoot('envoy-1.bin'));
    copyFileSync(program[0], inRoot('pilot-agent'));
    copyFileSync(program[0].replace('-linux', '-guard-linux'), inRoot('pilot-agent-guard'));
    const start = inRoot('start.sh');
    // The rig passes the program of this machine first, and then its arguments.
    writeFileSync(
      start,
      `#!/bin/sh
set -e
for absent in node python3 mkfifo-of-none; do if command -v $absent; then exit 99; fi; done
shift
export XDG_CACHE_HOME=${rig.folder}/cache
${rig.folder}/pilot-agent envoy install --from ${rig.folder}/envoy-1.bin >&2
exec ${rig.folder}/pilot-agent "$@"
`,
      { mode: 0o755 },
    );
    const agent = rig.start([], {
      wrap: [
        'unshare',
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        'sh',
        '-c',
        enter,
        base,
        work,
        rig.folder,
        start,
      ],
    });
    await agent.said('epoch.live', 0);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    const running = (name: string) =>
      rig
        .envoys()
        .filter((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith(`${rig.folder}/${name}`));
    expect(running(`cache/pilot-agent/envoy/${pinnedEnvoy.version}/envoy`)).toHaveLength(1);
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch.live', 1);
    const [init] = running('pilot-agent');
    process.kill(init ?? 0, 'SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(agent.log().filter(({ event }) => event === 'tool.missing')).toEqual([]);
    expect(agent.log().map(({ event }) => event)).toContain('agent.ended');
  });
});
