import { expect, it } from 'vitest';
import { emptyHistogram, observed } from '../../../src/operators/histogram.ts';

it('a histogram counts a duration of less than nothing as 0, so that its sum never falls', () => {
  const histogram = [2_000, -3_600_000].reduce(observed, emptyHistogram([1, 5]));
  expect(histogram).toEqual({
    buckets: [
      { limit: 1, count: 1 },
      { limit: 5, count: 2 },
    ],
    count: 2,
    sum: 2,
  });
});
