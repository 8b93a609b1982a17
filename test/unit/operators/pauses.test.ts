import { describe, expect, it } from 'vitest';
import { backOff, jitter } from '../../../src/operators/back-off.ts';

describe('backOff', () => {
  it.each([
    [0, 50],
    [1, 100],
    [2, 200],
    [9, 25_600],
    [10, 30_000],
    [11, 30_000],
    [10_000, 30_000],
  ])('before try %i is %i ms', (attempt, pause) => {
    expect(backOff({ first: 50, longest: 30_000 }, attempt)).toBe(pause);
  });

  it('is never longer than the longest, not even at first', () => {
    expect(backOff({ first: 1_000, longest: 1_000 }, 0)).toBe(1_000);
    expect(backOff({ first: 2_000, longest: 1_000 }, 0)).toBe(1_000);
  });
});

describe('jitter', () => {
  it.each([
    { share: 0.2, random: 0, pause: 800 },
    { share: 0.2, random: 0.25, pause: 900 },
    { share: 0.2, random: 0.5, pause: 1_000 },
    { share: 0.2, random: 0.75, pause: 1_100 },
    { share: 0.2, random: 1, pause: 1_200 },
    { share: 0, random: 0.75, pause: 1_000 },
    { share: 1, random: 0, pause: 0 },
  ])('makes $pause ms of 1 s at a share of $share and $random', ({ share, random, pause }) => {
    expect(jitter(1_000, share, random)).toBeCloseTo(pause, 9);
  });
});
