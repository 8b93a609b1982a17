import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The process ids of Envoys that write their admin address below `addressFile`, as those of an agent with this folder do, and whose agent is gone:
 * their parent does not run `program`. A stopped one is found, too.
 */
export function staleEnvoys(addressFile: string, program: string, self = process.pid): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const args = read(`/proc/${pid}/cmdline`).split('\0');
      if (args[3] === 'envoy-keeper') return false; // it ends with its Envoy
      const path = args[args.indexOf('--admin-address-path') + 1] ?? '';
      if (!args.includes('--admin-address-path') || !(path === addressFile || path.startsWith(`${addressFile}-`))) return false;
      const parent = /^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1];
      return Number(parent) === self || programOf(parent) !== program; // ours as process 1: it was given to us
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
