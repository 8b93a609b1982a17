import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Starts the files in the order of `TESTS_IN_ORDER`, which has their paths with spaces between. */
export class GivenOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (process.env['TESTS_IN_ORDER'] ?? '').split(' ');
    const placeOf = ({ moduleId }: TestSpecification) =>
      order.indexOf(relative(process.cwd(), moduleId));
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}
