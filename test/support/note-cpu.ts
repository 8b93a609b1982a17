import { afterAll } from 'vitest';
import { cpuSeconds } from './cpu-seconds.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The CPU time of this file, including the programs that it started and that have ended. */
    cpuSeconds?: number;
  }
}

/**
 * The CPU time of this process when its last file ended. It is global because a process may run
 * several files.
 */
const used = globalThis as { cpuSecondsBefore?: number };

afterAll(({}, file) => {
  const now = cpuSeconds();
  file.meta.cpuSeconds = now - (used.cpuSecondsBefore ?? 0);
  used.cpuSecondsBefore = now;
});
