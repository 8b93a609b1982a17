import { describe, expect, it } from 'vitest';
import { shownPast } from '../../../../src/pilot-agent/report/shown-past.ts';

const now = 10_000_000;

describe('the past that is shown', () => {
  it.each([
    ['as long as the agent is old', 20_000, 600_000, 20_000],
    ['no longer than is asked for', 3_600_000, 600_000, 600_000],
    ['all, without a limit', 3_600_000, undefined, 3_600_000],
    ['10 s at least', 1_000, 600_000, 10_000],
    ['10 s, of an agent whose clock is ahead', -5_000, 600_000, 10_000],
  ])('is %s', (_, age, most, shown) => {
    expect(shownPast(now - age, now, most)).toEqual({ from: now - shown, to: now });
  });
});
