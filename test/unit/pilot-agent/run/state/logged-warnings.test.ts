import { expect, it } from 'vitest';
import { loggedWarnings } from '../../../../../src/pilot-agent/run/state/logged-warnings.ts';

it('are all of a reading, and of the earlier ones the last 100', () => {
  const readings = Array.from({ length: 1_000 }, (_, index) => ['always', `the ${index}th`]);
  const last = readings.reduce<ReadonlySet<string>>(loggedWarnings, new Set());
  expect(last.size).toBe(102);
  const kept = ['always', 'the 899th', 'the 898th'].map((warning) => last.has(warning));
  expect(kept).toEqual([true, true, false]);
});

it('stay the same if a reading has none that is new', () => {
  const before = loggedWarnings(new Set(), ['a', 'b']);
  expect(loggedWarnings(before, ['b'])).toBe(before);
  expect(loggedWarnings(before, [])).toBe(before);
});
