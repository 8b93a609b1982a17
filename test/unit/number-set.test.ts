import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberSet } from '../../src/metrics/number-set.ts';

it('has what was added since it was cleared', () => {
  const number = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 }).map((high) => high * 0x100000000 + 7)); // prettier-ignore
  const step = fc.oneof({ weight: 60, arbitrary: number }, { weight: 1, arbitrary: fc.constant('clear' as const) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000, size: 'max' }), (steps) => {
      const [set, model] = [numberSet(), new Set<number>()];
      for (const one of steps) {
        if (one === 'clear') {
          set.clear();
          model.clear();
        } else {
          expect(set.add(one)).toBe(!model.has(one));
          model.add(one);
        }
      }
    }),
  );
});
