import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../../src/shared/text/value.ts';

/** Prints a duration of whole ms as Go does: 1h1m1.001s, 1m0s, 5ms, 0s. */
function goDuration(ms: number): string {
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms > 0 && ms < 1_000) return `${ms}ms`;
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const thousandths = (ms % 60_000).toString().padStart(4, '0');
  const seconds = `${thousandths.slice(0, -3)}.${thousandths.slice(-3)}`
    .replace(/\.?0*$/, '')
    .replace(/^$/, '0');
  const whole = ms % 60_000 === 0 ? '0' : seconds;
  return `${hours > 0 ? `${hours}h` : ''}${ms >= 60_000 ? `${minutes}m` : ''}${whole}s`;
}

describe('parseDuration', () => {
  it.each([
    { text: '45s', ms: 45_000 },
    { text: '1m0s', ms: 60_000 },
    { text: '1m30s', ms: 90_000 },
    { text: '1h1m1s', ms: 3_661_000 },
    { text: '1s1h', ms: 3_601_000 },
    { text: '1s1s', ms: 2_000 },
    { text: '.5s', ms: 500 },
    { text: '5.s', ms: 5_000 },
    { text: '1.5h', ms: 5_400_000 },
    { text: '1.1s', ms: 1_100 },
    { text: '0.57h', ms: 2_052_000 },
    { text: '100ms', ms: 100 },
    { text: '500us', ms: 0.5 },
    { text: '500µs', ms: 0.5 },
    { text: '500μs', ms: 0.5 },
    { text: '250000ns', ms: 0.25 },
    { text: '-1s', ms: -1_000 },
    { text: '+1s', ms: 1_000 },
    { text: '0', ms: 0 },
    { text: '0s', ms: 0 },
    { text: '-0', ms: 0 },
  ])('takes $text for $ms ms', ({ text, ms }) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '5',
    '5x',
    '5S',
    '1d',
    's',
    '.s',
    '.',
    '-',
    '+',
    '--1s',
    '+-1s',
    '1s ',
    ' 1s',
    '1 s',
    '1h 1m',
    '1e3s',
    '1,5s',
    '1s5',
    '00',
    'abc',
    '1s\n',
  ])('does not take %j, as Go does not', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads back what Go prints', () => {
    fc.assert(
      fc.property(fc.integer({ min: -400_000_000, max: 400_000_000 }), (ms) => {
        expect(parseDuration(goDuration(ms))).toBe(ms);
      }),
      {
        examples: [
          [0],
          [999],
          [1_000],
          [1_100],
          [60_000],
          [61_001],
          [3_600_000],
          [36_000_010],
          [-1_500],
        ],
      },
    );
  });

  it('adds up its parts in any order', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
    const part = fc.tuple(
      fc.nat({ max: 10_000 }),
      fc.constantFrom<(keyof typeof units)[]>('ms', 's', 'm', 'h'),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const sum = parts.reduce((total, [count, unit]) => total + count * units[unit], 0);
        expect(parseDuration(parts.map(([count, unit]) => `${count}${unit}`).join(''))).toBe(sum);
      }),
    );
  });
});
