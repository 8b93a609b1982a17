import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readTimings } from './timings.ts';

/**
 * Starts the files that take longest first, by `test/timings.md`, so that no worker is left with a
 * long one at the end. A file that is not there yet comes first.
 */
export class TimedSequencer extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map(readTimings().map((timing) => [timing.file, timing.seconds]));
    const secondsOf = ({ moduleId }: TestSpecification) =>
      seconds.get(relative(process.cwd(), moduleId)) ?? Infinity;
    return Promise.resolve(
      files.toSorted((a, b) => secondsOf(b) - secondsOf(a) || (a.moduleId < b.moduleId ? -1 : 1)),
    );
  }
}
