import { describe, expect, it } from 'vitest';
import {
  type CallerRefusals,
  unloggedCount,
  withRefusal,
} from '../../../../src/pilot-discovery/state/caller-refusals.ts';

const none: CallerRefusals = new Map();

describe('refusals of callers', () => {
  it('are said once a minute for a client, with the number of those between', () => {
    let refusals = none;
    const counts = [0, 1, 30_000, 59_999, 60_000, 60_001].map((now) => {
      const more = unloggedCount(refusals, `10.0.0.1:${now}`, now);
      refusals = withRefusal(refusals, `10.0.0.1:${now}`, now);
      return more;
    });
    expect(counts).toEqual([0, undefined, undefined, undefined, 3, undefined]);
    expect(unloggedCount(refusals, '10.0.0.2:1', 60_002)).toBe(0);
  });

  it('are remembered of 256 clients, the latest', () => {
    const refusals = Array.from({ length: 300 }, (_, number) => `[fd00::${number}]:1`).reduce(
      (before, address) => withRefusal(before, address, 0),
      none,
    );
    expect(refusals.size).toBe(256);
    expect(unloggedCount(refusals, '[fd00::299]:2', 1)).toBeUndefined();
    expect(unloggedCount(refusals, '[fd00::0]:2', 1)).toBe(0);
  });
});
