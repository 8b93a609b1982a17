import { readFileSync } from 'node:fs';

/** When a process has started, as the kernel counts it (field 22 of `/proc/PID/stat`): with its number it names one process. Undefined once it has ended. */
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
