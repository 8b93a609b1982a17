// Why: docs/decisions/021-an-envoy-is-known-by-its-start-time.md
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AdoptedEpoch } from '../epochs/ports.ts';
import { isRestartAddress, type RestartAddress } from './restart-addresses.ts';
import { startTime, uidOf } from './proc.ts';
import { parseJson } from '../shared/text/parse-json.ts';

/** An Envoy that outlives its agent, with everything that the next agent must know about it. */
export interface AdoptedEnvoy extends AdoptedEpoch, RestartAddress {
  /** See {@link startTime}. */
  readonly startTime: string;
  /** The file with its admin address. */
  readonly addressFile: string;
}

const numbers = ['epoch', 'restartEpoch', 'lineage', 'pid', 'baseId'] as const;
const texts = ['startTime', 'addressFile', 'socketPath'] as const;

/**
 * Returns the Envoys of `file` that still run, oldest first. Each must be the same process of this
 * user, with the base id, the sockets, the restart epoch and the address file of its entry. Entries
 * that cannot be understood are ignored. So is a file that other users could have written: the
 * agent ends the Envoys that it names, and removes their files.
 */
export function adoptedEnvoys(file: string): readonly AdoptedEnvoy[] {
  const folder = dirname(file);
  const written = parse(readOwn(file));
  const entries: readonly unknown[] = Array.isArray(written) ? written : [];
  // An earlier version of the agent recorded no sockets: its Envoys have abstract ones.
  const whole = entries.map((entry) => ({ socketPath: '', ...(entry as object | null) }));
  return whole.filter(isAdopted).filter((adopted) => {
    const { pid, addressFile, socketPath } = adopted;
    const args = read(`/proc/${pid}/cmdline`).split('\0');
    const has = (option: string, value: string | number) =>
      args[args.lastIndexOf(option) + 1] === String(value);
    return (
      startTime(pid) === adopted.startTime &&
      uidOf(pid) === process.geteuid?.() &&
      has('--base-id', adopted.baseId) &&
      has('--restart-epoch', adopted.restartEpoch) &&
      (socketPath === '' ? !args.includes('--socket-path') : has('--socket-path', socketPath)) &&
      isRestartAddress(adopted, folder) &&
      isAddressFile(addressFile, folder) &&
      (args[args.indexOf('--admin-address-path') + 1] ?? '').startsWith(`${folder}/`)
    );
  });
}

/**
 * Whether a path can be an address file. The files of an Envoy beside another one, and of an Envoy
 * that was replaced, have a suffix.
 */
function isAddressFile(path: string, folder: string): boolean {
  return (
    path.startsWith(`${folder}/`) &&
    /^envoy-admin-address(?:-\d+|-former)?$/.test(path.slice(folder.length + 1))
  );
}

function isAdopted(value: unknown): value is AdoptedEnvoy {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    numbers.every((name) => Number.isSafeInteger(fields[name])) &&
    texts.every((name) => typeof fields[name] === 'string')
  );
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads a file that only this user can read and write, as the agent makes it; '' for any other
 * file.
 */
function readOwn(path: string): string {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { uid, mode } = fstatSync(fd);
      const isOwn =
        (mode & constants.S_IFMT) === constants.S_IFREG &&
        uid === process.geteuid?.() &&
        (mode & 0o077) === 0;
      return isOwn ? readFileSync(fd, 'utf8') : '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
