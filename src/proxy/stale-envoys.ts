import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** An Envoy whose agent is gone. */
export interface StaleEnvoy {
  readonly pid: number;
  readonly baseId: number;
}

/**
 * The Envoys that write their admin address below `addressFile`, as those of an agent with this folder do, and whose agent is gone:
 * their parent does not run `program`. A stopped one is found, too.
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
