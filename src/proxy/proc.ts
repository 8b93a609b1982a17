import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * When a process has started, as the kernel counts it (field 22 of `/proc/PID/stat`): with its
 * number it names one process. Undefined once it has ended.
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

/** An Envoy whose agent is gone. */
export interface StaleEnvoy {
  readonly pid: number;
  readonly baseId: number;
}

/**
 * The Envoys that write their admin address below `addressFile`, as those of an agent with this
 * folder do, and whose agent is gone: their parent does not run `program`. A stopped one is found,
 * too.
 */
export function staleEnvoys(addressFile: string, program: string, self = process.pid): readonly StaleEnvoy[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name);
      const args = read(`/proc/${pid}/cmdline`).split('\0');
      if (args[3] === 'envoy-keeper') return []; // it ends with its Envoy
      const path = args[args.indexOf('--admin-address-path') + 1] ?? '';
      if (!args.includes('--admin-address-path') || !(path === addressFile || path.startsWith(`${addressFile}-`))) return [];
      const parent = /^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1];
      if (Number(parent) !== self && programOf(parent) === program) return []; // ours as process 1: it was given to us
      return [{ pid, baseId: Number(args[args.indexOf('--base-id') + 1]) }];
    });
}

function programOf(pid: string | undefined): string {
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

/** Envoy multiplies `--base-id` by this, and keeps the numbers between for the epochs' sockets. */
const factor = 10;
const choices = 400_000_000;

/**
 * A `--base-id` of which neither a socket (`unixTable` is the text of `/proc/net/unix`) nor shared
 * memory (`shared` are the names in `/dev/shm`) exists, so that agents on one machine stay apart.
 *
 * Drawn at random: two agents that start in the same moment see the same table.
 */
export function freeBaseId(unixTable: string, shared: readonly string[], random: () => number): number {
  const sockets = [...unixTable.matchAll(/@envoy_domain_socket_\w+?_(\d+)/g)].map(([, id]) => Number(id));
  const memories = shared.flatMap((name) => /^envoy_shared_memory_(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  const taken = new Set([...sockets, ...memories].map((id) => Math.floor(id / factor)));
  for (;;) {
    const id = 1 + Math.floor(random() * choices);
    if (!taken.has(id)) return id;
  }
}

/** What Envoy leaves in `/dev/shm` for a base id, whichever way it ends. */
export function sharedMemoryOf(baseId: number): string {
  return `/dev/shm/envoy_shared_memory_${baseId * factor}`;
}
