import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstIndexes } from '../../../../../src/pilot-discovery/istio/fields/first-indexes.ts';
import { firstOverlaps } from '../../../../../src/pilot-discovery/istio/fields/first-overlaps.ts';
import {
  covers,
  endOf,
  isWithin,
} from '../../../../../src/pilot-discovery/istio/fields/wildcard-host.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 5 });
const host = fc
  .tuple(
    fc.constantFrom('', '*', '*.'),
    fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 }),
  )
  .map(([wildcard, labels]) => `${wildcard}${labels.join('.')}`);
const hosts = fc.array(fc.oneof({ weight: 9, arbitrary: host }, fc.constant('*')));

it('finds the first of equal values', () => {
  expect([...firstIndexes(['a', 'b', 'a', 'c', 'b'])].sort()).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 3],
  ]);
});

it('finds the first earlier text of which one begins with the other', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const simply = texts.map((later, index) => {
        const first = texts.findIndex(
          (earlier) => earlier.startsWith(later) || later.startsWith(earlier),
        );
        return first < index ? first : undefined;
      });
      expect(firstOverlaps(texts)).toEqual(simply);
    }),
  );
});

it('finds the first earlier host of which one covers the other', () => {
  fc.assert(
    fc.property(hosts, (all) => {
      const simply = all.map((later, index) => {
        const first = all.findIndex(
          (earlier) => isWithin(later, earlier) || isWithin(earlier, later),
        );
        return first < index ? first : undefined;
      });
      expect(firstOverlaps(all.map(endOf))).toEqual(simply);
    }),
  );
});

it('knows whether one of many hosts covers a name', () => {
  fc.assert(
    fc.property(hosts, host, (all, name) => {
      expect(covers(all)(name)).toBe(all.some((wide) => isWithin(name, wide)));
    }),
  );
});
