import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Returns when a process started, as the kernel counts it (field 22 of `/proc/PID/stat`). Together
 * with its number this identifies one process. Undefined once it has ended.
 */
export function startTime(pid: number): string | undefined {
  try {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

/**
 * Returns the Envoys, of any user, of the agent with this folder. They are found by their
 * arguments.
 */
export function envoysOf(folder: string): readonly number[] {
  const addressFile = join(resolve(folder), 'envoy-admin-address');
  return pids().filter((pid) => isOf(addressFile, read(`/proc/${pid}/cmdline`).split('\0')));
}

/** An Envoy whose agent is gone. */
export interface StaleEnvoy {
  readonly pid: number;
  /** The user that owns the process. */
  readonly uid: number;
  readonly baseId: number;
}

/**
 * Returns the Envoys that write their admin address to `addressFile`, or to this path and a suffix,
 * as those of an agent with this folder do, and whose agent is gone: their parent does not run
 * `program`. This includes stopped processes. Processes of other users count only for root: anybody
 * can give a process such arguments.
 */
export function staleEnvoys(
  addressFile: string,
  program: string,
  self = process.pid,
): readonly StaleEnvoy[] {
  return pids().flatMap((pid) => {
    const args = read(`/proc/${pid}/cmdline`).split('\0');
    if (args[3] === 'envoy-keeper') return []; // it ends with its Envoy
    if (!isOf(addressFile, args)) return [];
    const parent = parentOf(pid);
    // Its agent runs. If this agent is process 1, its own children are orphans of another one.
    if (parent !== self && programOf(parent) === program) return [];
    const uid = uidOf(pid);
    if (uid === undefined || (uid !== process.geteuid?.() && process.geteuid?.() !== 0)) return [];
    return [{ pid, uid, baseId: Number(args[args.indexOf('--base-id') + 1]) }];
  });
}

/** Returns the ids of all processes that this one can see. */
export function pids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Returns the id of the parent of a process; undefined once the process has ended. */
export function parentOf(pid: number): number | undefined {
  const parent = /^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function isOf(addressFile: string, args: readonly string[]): boolean {
  const path = args[args.indexOf('--admin-address-path') + 1] ?? '';
  return (
    args.includes('--admin-address-path') &&
    (path === addressFile || path.startsWith(`${addressFile}-`))
  );
}

/**
 * Returns the user that owns a process; undefined once it has ended. The owner of `/proc/PID` can
 * be another one if the program has capabilities.
 */
export function uidOf(pid: number): number | undefined {
  const uid = /^Uid:\t\d+\t(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return uid === undefined ? undefined : Number(uid);
}

function programOf(pid: number | undefined): string {
  try {
    return readlinkSync(`/proc/${pid ?? ''}/exe`);
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

/** The memory and CPU time of a process. */
export interface Usage {
  readonly residentBytes: number;
  /** User and system time since its start, in s. */
  readonly cpuSeconds: number;
}

/** The kernel reports time in hundredths of a second (USER_HZ, proc(5)). */
const ticksPerSecond = 100;

/** Returns undefined once the process has ended. */
export function usage(pid: number): Usage | undefined {
  const [, ...fields] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  const kibibytes = /^VmRSS:\s*(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1];
  if (kibibytes === undefined) return undefined;
  return {
    residentBytes: Number(kibibytes) * 1024,
    cpuSeconds: (Number(fields[10]) + Number(fields[11])) / ticksPerSecond,
  };
}
