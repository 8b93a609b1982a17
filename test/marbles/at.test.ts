import { describe, expect, it } from 'vitest';
import { marbles } from '../support/marbles/marbles.ts';
import { at } from '../../src/testing/at.ts';

describe('at', () => {
  it.each([
    {
      what: 'the gaps between the times',
      diagram: at({ '0s': 'A', '10s': 'B', '22s': 'C' }),
      expected: 'A 9999ms B 11999ms C',
    },
    { what: 'a first sign that is not at 0', diagram: at({ '5s': 'a' }), expected: '5000ms a' },
    {
      what: 'neighbours',
      diagram: at({ '0ms': 'a', '1ms': 'b', '3ms': 'c' }),
      expected: 'a b 1ms c',
    },
    {
      what: 'each unit, and fractions',
      diagram: at({ '500ms': 'a', '1.55s': 'b', '2m': 'c' }),
      expected: '500ms a 1049ms b 118449ms c',
    },
    {
      what: 'several signs at one time',
      diagram: at({ '0s': 'ab', '1s': 'c' }),
      expected: '(ab) 996ms c',
    },
    { what: 'an end', diagram: at({ '0s': 'a', '1s': '|' }), expected: 'a 999ms |' },
    {
      what: 'an end with a value',
      diagram: at({ '0s': 'a', '1s': 'b|' }),
      expected: 'a 999ms (b|)',
    },
    { what: 'an error', diagram: at({ '0s': 'a', '1s': '#' }), expected: 'a 999ms #' },
    {
      what: 'a subscription',
      diagram: at({ '10s': '^', '15s': '!' }),
      expected: '10000ms ^ 4999ms !',
    },
    { what: 'nothing', diagram: at({}), expected: '' },
  ])('draws $what', ({ diagram, expected }) => {
    expect(diagram).toBe(expected);
  });

  it(
    'draws what is heard at those times',
    marbles((m) => {
      const heard$ = m.hot(at({ '0s': 'a', '500ms': 'bc', '10s': 'd|' }));
      m.expectObservable(heard$).toBe('a 499ms (bc) 9496ms (d|)');
      m.expectSubscriptions(heard$.subscriptions).toBe(at({ '0s': '^', '10s': '!' }));
    }),
  );

  it('refuses a time that goes back', () => {
    expect(() => at({ '2s': 'a', '1s': 'b' })).toThrow(
      "'b' cannot be drawn at 1s: the part before it ends at 2001 ms",
    );
  });

  it('refuses a time within a group', () => {
    expect(() => at({ '0s': 'ab', '3ms': 'c' })).toThrow(
      "'c' cannot be drawn at 3ms: the part before it ends at 4 ms",
    );
  });

  it.each(['1e3s', '-1s'] as const)('refuses the time %s', (time) => {
    expect(() => at({ [time]: 'a' })).toThrow(`'${time}' is not a time such as 500ms, 1.5s or 2m`);
  });
});
