import { expect, it } from 'vitest';
import {
  addressRange,
  matchesOf,
} from '../../../../../src/pilot-discovery/generate/listeners/access-matches.ts';

it.each([
  ['10.0.0.0/8', '10.0.0.0', 8],
  ['10.1.2.3', '10.1.2.3', 32],
  ['2001:DB8:0:0::1', '2001:db8::1', 128],
  ['::/0', '::', 0],
])('%s is a range of addresses', (text, addressPrefix, prefixLen) => {
  expect(addressRange(text)).toEqual({ addressPrefix, prefixLen });
});

it('has nothing for values that are not given', () => {
  const condition = { attribute: 'host', path: [], values: [], notValues: ['a', 'b'] } as const;
  expect(matchesOf(condition, (values) => values.join(' '))).toEqual({
    some: undefined,
    none: 'a b',
  });
});
