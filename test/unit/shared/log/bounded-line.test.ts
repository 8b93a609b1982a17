import { describe, expect, it } from 'vitest';
import { boundedLine } from '../../../../src/shared/log/bounded-line.ts';
import type { LogLine } from '../../../../src/shared/log/log-line.ts';

const line = (fields: object): LogLine => ({
  level: 'info',
  event: 'discovery.connected',
  msg: 'a proxy has connected',
  ...fields,
});

describe('a line of the log', () => {
  it('is as it is up to 64 KiB', () => {
    const short = line({ nodeId: 'x'.repeat(60_000), names: ['a', 'b'] });
    expect(boundedLine(short)).toBe(short);
  });

  it.each([
    ['a text', { nodeId: 'x'.repeat(30_000_000) }],
    ['a text that JSON makes longer', { reason: '\u0001'.repeat(2_000_000) }],
    ['a list', { names: Array.from({ length: 1_000_000 }, (_, index) => `name-${index}`) }],
    ['a list of long texts', { names: Array.from({ length: 100 }, () => 'é'.repeat(1_000_000)) }],
    ['what is in a member', { madeOf: { inner: { names: ['x'.repeat(5_000_000)] } } }],
    ['an error', { err: new Error('x'.repeat(5_000_000)) }],
  ])('is cut if %s is too long, and stays', (_, fields) => {
    const text = JSON.stringify(boundedLine(line(fields)));
    expect(Buffer.byteLength(text)).toBeLessThan(1 << 20);
    expect(JSON.parse(text)).toMatchObject({
      level: 'info',
      event: 'discovery.connected',
      msg: 'a proxy has connected',
    });
    expect(text).toContain('…');
  });
});
