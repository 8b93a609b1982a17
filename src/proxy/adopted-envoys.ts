// Why: docs/decisions/021-an-envoy-is-known-by-its-start-time.md
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AdoptedEpoch } from '../epochs/ports.ts';
import { isMeetingPlace, type MeetingPlace } from './meeting-places.ts';
import { startTime, uidOf } from './proc.ts';
import { parseJson } from '../shared/text/parse-json.ts';

/** An Envoy that outlives its agent: all that the next agent has to know of it. */
export interface AdoptedEnvoy extends AdoptedEpoch, MeetingPlace {
  /** See {@link startTime}. */
  readonly startTime: string;
  /** Where it has written down its admin address. */
  readonly addressFile: string;
}

const numbers = ['epoch', 'restartEpoch', 'lineage', 'pid', 'baseId'] as const;
const texts = ['startTime', 'addressFile', 'socketPath'] as const;

/**
 * The Envoys that `file` says were adopted and that still run, the oldest first: the same process,
 * of this user, with the base id, the sockets, the restart epoch and the address file that are
 * written there. What is not understood is not there. Nor is anything where others could have
 * written it: what an agent is told of its Envoys, it ends, and removes.
 */
export function adoptedEnvoys(file: string): readonly AdoptedEnvoy[] {
  const folder = dirname(file);
  const written = parse(readOwn(file));
  const entries: readonly unknown[] = Array.isArray(written) ? written : [];
  // An earlier agent has written nothing of sockets: its Envoys have abstract ones.
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
      isMeetingPlace(adopted, folder) &&
      isAddressFile(addressFile, folder) &&
      (args[args.indexOf('--admin-address-path') + 1] ?? '').startsWith(`${folder}/`)
    );
  });
}

/** One that is asked for a neighbour's address, or for a former one's, has another name. */
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

/** What a file says that this user alone can write and read, as an agent makes it; '' else. */
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
