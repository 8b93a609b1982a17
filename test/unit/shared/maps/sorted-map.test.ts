import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedKeys, SortedMap } from '../../../../src/shared/maps/sorted-map.ts';

const names = fc.integer({ min: 0, max: 400 }).map((number) => `service-${number}.mesh`);
const edits = fc.array(
  fc.tuple(names, fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })),
);
const histories = fc.array(edits, { maxLength: 8 });

const sorted = (map: ReadonlyMap<string, number>) =>
  [...map].sort(([name], [other]) => (name < other ? -1 : 1));
const divided = (map: SortedMap<number>) => map.chunks().map((chunk) => [...chunk]);

/** Returns each state of a history, as a SortedMap and as a Map. */
function states(history: readonly (readonly (readonly [string, number | undefined])[])[]) {
  let [map, model] = [SortedMap.empty<number>(), new Map<string, number>()];
  return history.map((step) => {
    map = map.with(step);
    model = new Map(model);
    for (const [name, value] of step)
      if (value === undefined) model.delete(name);
      else model.set(name, value);
    return { map, model };
  });
}

describe('SortedMap', () => {
  it('has what a usual map has, in the order of the names', () => {
    fc.assert(
      fc.property(histories, names, (history, wanted) => {
        for (const { map, model } of states(history)) {
          expect([...map]).toEqual(sorted(model));
          expect([...map.keys()]).toEqual(sorted(model).map(([name]) => name));
          expect([...map.values()]).toEqual(sorted(model).map(([, value]) => value));
          expect([map.size, map.get(wanted), map.has(wanted)]).toEqual([
            model.size,
            model.get(wanted),
            model.has(wanted),
          ]);
          expect([...map.withPrefix(wanted.slice(0, 9))]).toEqual(
            sorted(model).filter(([name]) => name.startsWith(wanted.slice(0, 9))),
          );
        }
      }),
    );
  });

  it('is divided by its names alone, whatever was in it before', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const { map, model } of states(history))
          expect(divided(map)).toEqual(divided(SortedMap.of(model)));
      }),
    );
  });

  it('keeps the chunks that a change does not touch, and itself if nothing differs', () => {
    const map = SortedMap.of(Array.from({ length: 2_000 }, (_, number) => [`${number}`, number]));
    const after = map.with([['1234', 0]]);
    const kept = after.chunks().filter((chunk) => map.chunks().includes(chunk));
    expect([map.chunks().length > 20, kept.length]).toEqual([true, map.chunks().length - 1]);
    expect(
      map.with([
        ['1234', 1234],
        ['none', undefined],
      ]),
    ).toBe(map);
    const empty = SortedMap.empty<number>();
    expect(empty.with([['none', undefined]])).toBe(empty);
  });
});

describe('changedKeys', () => {
  it('has the names whose values differ between any two maps, and no other', () => {
    fc.assert(
      fc.property(histories, histories, (history, further) => {
        const all = [...states(history), ...states([...history, ...further]), ...states(further)];
        const [first, other] = [all.at(0), all.at(-1)];
        if (first === undefined || other === undefined) return;
        for (const [from, to] of [
          [first, other],
          [other, first],
          [all.at(history.length) ?? first, other],
        ] as const) {
          const names = new Set([...from.model.keys(), ...to.model.keys()]);
          expect([...changedKeys(from.map, to.map)].sort()).toEqual(
            [...names].filter((name) => from.model.get(name) !== to.model.get(name)).sort(),
          );
        }
      }),
    );
  });
});
