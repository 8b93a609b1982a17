import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('shared memory');

const folder = '/dev/shm';
/**
 * In bytes. Parent and child take about 50 KiB (Envoy 1.36.2), and other programs use the folder
 * too.
 */
const least = 1 << 20;

/** Checks that Envoys can share memory; without it none starts. */
export async function checkSharedMemory(): Promise<readonly Finding[]> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const user = String(process.geteuid?.());
    const what = `${folder} cannot be written by user ${user}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`;
    return [
      fail(
        'shared memory unusable',
        what,
        `mount a tmpfs at ${folder} that user ${user} may write`,
      ),
    ];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= least) return [ok(`${folder}, ${Math.floor(free / least)} MiB free`)];
  const what = `${Math.floor(free / 1024)} KiB are free in ${folder}, and Envoys share memory there`;
  return [
    fail('shared memory full', what, `remove what fills ${folder}, or mount a larger tmpfs there`),
  ];
}
