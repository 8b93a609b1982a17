import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('folders');

/** A folder that the agent writes to, and the flag or variable that names it. */
interface Folder {
  readonly path: string;
  readonly flag: string;
}

/** In bytes: for sockets, Envoy's bootstrap, and the last snapshot from the control plane. */
const least = 16 << 20;

/** Checks that the agent's folders exist or can be made, are writable, and have room. */
export async function checkFolders({ config, isCertain }: Around): Promise<readonly Finding[]> {
  const { configPath, secrets, outlierLogPath } = config;
  const folders: readonly Folder[] = [
    ...(isCertain('configPath') ? [{ path: configPath, flag: '--configPath' }] : []),
    ...(secrets.output === '' ? [] : [{ path: secrets.output, flag: 'OUTPUT_CERTS' }]),
    ...(outlierLogPath === '' ? [] : [{ path: dirname(outlierLogPath), flag: '--outlierLogPath' }]),
  ];
  return Promise.all(folders.map(checkFolder));
}

async function checkFolder({ path, flag }: Folder): Promise<Finding> {
  const absolute = resolve(path);
  try {
    const there = await nearest(absolute);
    if (!(await stat(there)).isDirectory())
      return unwritable(absolute, flag, `${there} is not a folder`);
    await access(`${there}/`, constants.W_OK | constants.X_OK);
    const { bavail, bsize, files, ffree } = await statfs(there);
    if (bavail * bsize < least || (files > 0 && ffree === 0)) {
      const left =
        files > 0 && ffree === 0 ? 'no more files' : `${Math.floor((bavail * bsize) / 1024)} KiB`;
      return fail(
        'folder full',
        `${flag} ${absolute}: ${left} can be written there`,
        `free ${least >> 20} MiB there, or change ${flag}`,
      );
    }
    return ok(`${flag} ${absolute} can be ${there === absolute ? 'written' : 'made'}`);
  } catch (error) {
    return unwritable(absolute, flag, (error as NodeJS.ErrnoException).code ?? String(error));
  }
}

function unwritable(path: string, flag: string, reason: string): Finding {
  const user = String(process.geteuid?.());
  return fail(
    'folder unwritable',
    `${flag} ${path} cannot be written by user ${user}: ${reason}`,
    `let user ${user} write there, or change ${flag}`,
  );
}

/** Returns the path, or the lowest folder above it that exists. */
async function nearest(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
