import { readFileSync } from 'node:fs';

/**
 * Returns the CPU time of this process, in seconds. It includes the programs that the process
 * started and that have ended. The ticks of /proc are hundredths of a second on each Linux.
 */
export function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
}
