import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberSet } from '../../../../../src/pilot-agent/status/scrape/number-set.ts';

it('has what was added', () => {
  const low = fc.integer({ min: 0, max: 300 });
  const number = fc.oneof(
    low,
    low.map((high) => high * 0x100000000 + 7),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 1_000, size: 'max' }), (numbers) => {
      const [set, model] = [numberSet(), new Set<number>()];
      for (const each of numbers) {
        expect(set.add(each)).toBe(!model.has(each));
        model.add(each);
      }
    }),
  );
});
