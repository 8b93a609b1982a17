import { existsSync, readFileSync } from 'node:fs';

/** What a file of tests, or a part of a run, has taken: seconds of the clock, and of processors. */
export interface Timing {
  readonly file: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Where `npm run timings` writes what each file has taken. */
export const timingsFile = 'test/timings.md';

/** The rows of that table, in its order. None if there is no such file. */
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
