import { describe, expect, it } from 'vitest';
import {
  requestBackOff,
  rotationDelay,
} from '../../../../../src/pilot-agent/secrets/ca/ca-secrets.ts';
const hour = 3_600_000;
const now = 10 * hour;
const middle = () => 0.5;

describe('rotationDelay', () => {
  it.each([
    [
      'in the middle of its life, 0.4 to be left: not yet',
      { created: now - hour, expires: now + hour, ratio: 0.4 },
      0.2 * hour,
    ],
    [
      'in the middle of its life, 0.6 to be left: at once',
      { created: now - hour, expires: now + hour, ratio: 0.6 },
      100,
    ],
    [
      'expired a minute ago, nothing to be left: at once',
      { created: now - hour, expires: now - 60_000, ratio: 0 },
      100,
    ],
    [
      'a life longer than a timer of Node counts: earlier',
      { created: now, expires: now + 100_000 * hour, ratio: 0.5 },
      2 ** 31 - 1,
    ],
  ])('%s', (_, lifetime, delay) => {
    expect(rotationDelay(lifetime, now, middle)).toBeCloseTo(delay, 3);
  });
});

describe('requestBackOff', () => {
  it('doubles from 50 ms up to 30 s', () => {
    const delays = Array.from({ length: 12 }, (_, index) =>
      requestBackOff(index + 1, 'away', 0, middle),
    );
    expect(delays).toEqual([
      50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000,
    ]);
  });

  it('is at most a quarter of the rest of a certificate, but a second, until it has expired', () => {
    const rests = [120_000, 40_000, 4_000, 1, 0, -1];
    const delays = rests.map((rest) => requestBackOff(12, 'away', rest, middle));
    expect(delays).toEqual([30_000, 10_000, 1_000, 1_000, 30_000, 30_000]);
    expect(requestBackOff(1, 'refused', 20_000, middle)).toBe(5_000);
    expect(requestBackOff(1, 'away', 20_000, middle)).toBe(50);
  });

  it('is spread by a fifth to either side', () => {
    expect([
      requestBackOff(1, 'fleeting', 0, () => 0),
      requestBackOff(1, 'fleeting', 0, () => 1),
    ]).toEqual([40, 60]);
  });
});
