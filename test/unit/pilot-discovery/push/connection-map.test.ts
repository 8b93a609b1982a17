import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionMap } from '../../../../src/pilot-discovery/push/connection-map.ts';

describe('ConnectionMap', () => {
  it('is what a Map is after the same changes, and leaves what was before as it was', () => {
    const change = fc.record({
      connection: fc.nat(100),
      value: fc.option(fc.nat(), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        let map = ConnectionMap.empty<number>();
        const model = new Map<number, number>();
        for (const { connection, value } of changes) {
          const [before, entries] = [map, [...map]];
          map = value === undefined ? map.without(connection) : map.with(connection, value);
          if (value === undefined) model.delete(connection);
          else model.set(connection, value);
          expect([...before]).toEqual(entries);
          expect(map.get(connection)).toBe(value);
        }
        expect(map.size).toBe(model.size);
        expect([...map].sort(([a], [b]) => a - b)).toEqual([...model].sort(([a], [b]) => a - b));
      }),
    );
  });
});
