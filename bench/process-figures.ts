import { readdirSync, readFileSync } from 'node:fs';

/** In MB. */
export interface Memory {
  readonly rss: number;
  /** Memory that belongs to this process alone and to no file (RssAnon). */
  readonly anonymous: number;
  /** Memory with a share of the pages that other processes use too (Pss). */
  readonly pss: number;
}

export function memoryOf(pid: number): Memory {
  const megabytes = (file: string, name: string) =>
    Number(
      new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(
        readFileSync(`/proc/${pid}/${file}`, 'utf8'),
      )?.[1],
    ) / 1024;
  return {
    rss: megabytes('status', 'VmRSS'),
    anonymous: megabytes('status', 'RssAnon'),
    pss: megabytes('smaps_rollup', 'Pss'),
  };
}

/** CPU time of all threads so far, in ms; finer than the ticks of /proc/PID/stat. */
export function cpuOf(pid: number): number {
  const nanoseconds = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return (
    readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + nanoseconds(thread), 0) / 1e6
  );
}
