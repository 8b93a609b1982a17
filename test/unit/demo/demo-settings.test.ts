import { describe, expect, it } from 'vitest';
import { periodOf, portOf } from '../../../demo/demo-settings.ts';

describe('the settings of the demo', () => {
  it('have a period that a timer can wait', () => {
    expect(periodOf('1.5s')).toBe(1_500);
    expect(periodOf('1000h')).toBe(2 ** 31 - 1);
  });

  it.each(['0s', '-1s', 'often'])('have no period of %s', (text) =>
    expect(() => periodOf(text)).toThrow(
      `DEMO_ROTATE_EVERY: '${text}' is not a duration (such as '20s')`,
    ),
  );

  it('have ports', () => {
    expect(portOf('TLS', '8443')).toBe(8_443);
    for (const text of ['abc', '', '70000', '-1'])
      expect(() => portOf('TLS', text)).toThrow(
        `the port for TLS: '${text}' is not a number up to 65535`,
      );
  });
});
