import { existsSync, readFileSync } from 'node:fs';

/** The duration and the CPU time of a test file, or of a part of a run. */
export interface Timing {
  readonly file: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** The file into which `npm run timings` writes the times of each test file. */
export const timingsFile = 'test/timings.md';

/** Returns the rows of that file, in order; none if there is no such file. */
export function readTimings(): Timing[] {
  if (!existsSync(timingsFile)) return [];
  const rows = readFileSync(timingsFile, 'utf8').matchAll(
    /^\| `(test\/[^`]+)` *\| *([\d.]+) *\| *([\d.]+) *\|/gm,
  );
  return [...rows].map(([, file = '', seconds, cpu]) => ({
    file,
    seconds: Number(seconds),
    cpuSeconds: Number(cpu),
  }));
}
