import { afterAll } from 'vitest';
import { cpuSeconds } from './cpu-seconds.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What this file took of processors, with the programs that it started and that have ended. */
    cpuSeconds?: number;
  }
}

/** A process may run several files: what it had used when the last one ended. */
const used = globalThis as { cpuSecondsBefore?: number };

afterAll(({}, file) => {
  const now = cpuSeconds();
  file.meta.cpuSeconds = now - (used.cpuSecondsBefore ?? 0);
  used.cpuSecondsBefore = now;
});
