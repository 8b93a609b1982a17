import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readTimings } from './timings.ts';

/**
 * Sorts the files by the times in `test/timings.md`, the longest first, so that no worker runs a
 * long file at the end. A file without a time comes first.
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
