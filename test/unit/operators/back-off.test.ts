import { expect, it } from 'vitest';
import { backOff } from '../../../src/operators/back-off.ts';

it.each([
  [0, 200],
  [1, 400],
  [2, 800],
  [3, 1_600],
  [4, 3_200],
  [5, 6_400],
  [6, 12_800],
  [7, 25_600],
  [8, 30_000],
  [9, 30_000],
  [100, 30_000],
  [10_000, 30_000],
])('waits before restart %i for %i ms', (attempt, delay) => {
  expect(backOff({ first: 200, longest: 30_000 }, attempt)).toBe(delay);
});
