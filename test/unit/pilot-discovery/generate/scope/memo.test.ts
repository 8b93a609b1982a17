import { describe, expect, it } from 'vitest';
import {
  hold,
  memoTable,
  release,
  withUses,
} from '../../../../../src/pilot-discovery/generate/scope/memo.ts';

/**
 * Returns two tables, of which one computes its values from the other, and the names computed so
 * far.
 */
function tables() {
  const computedNames: string[] = [];
  const [inner, outer] = [memoTable<string>(), memoTable<string>()];
  const object = {};
  const part = (name: string) =>
    inner([object], name, () => computedNames[computedNames.push(name) - 1] ?? '');
  const whole = (name: string, ...parts: readonly string[]) =>
    outer([object], name, () => {
      computedNames.push(name);
      return parts.map(part).join('+');
    });
  return { computedNames, part, whole };
}

describe('memoTable', () => {
  it('makes a value once for the same objects and an equal text', () => {
    const { computedNames, whole } = tables();
    expect([whole('a', 'x', 'y'), whole('a', 'x', 'y')]).toEqual(['x+y', 'x+y']);
    expect(computedNames).toEqual(['a', 'x', 'y']);
  });

  it('makes it for each object', () => {
    const table = memoTable<object>();
    const [first, other] = [{}, {}];
    const values = [[first], [other], [first, other], [first]].map((objects) =>
      table(objects, '', () => ({})),
    );
    expect(values[0]).toBe(values[3]);
    expect(new Set(values).size).toBe(3);
  });

  it('forgets what nobody holds any more, with what it was made of', () => {
    const { computedNames, whole } = tables();
    const [, first] = withUses(() => whole('a', 'x'));
    const [, second] = withUses(() => whole('a', 'x'));
    hold(first);
    hold(second);
    release(first);
    whole('a', 'x');
    expect(computedNames).toEqual(['a', 'x']);
    release(second);
    whole('a', 'x');
    expect(computedNames).toEqual(['a', 'x', 'a', 'x']);
  });

  it('keeps what another value that is held was made of', () => {
    const { computedNames, part, whole } = tables();
    const [, first] = withUses(() => whole('a', 'x', 'y'));
    const [, second] = withUses(() => whole('b', 'y'));
    hold(first);
    hold(second);
    release(first);
    part('y');
    expect(computedNames).toEqual(['a', 'x', 'y', 'b']);
    part('x');
    expect(computedNames).toEqual(['a', 'x', 'y', 'b', 'x']);
  });

  it('goes on after something has thrown', () => {
    const table = memoTable<string>();
    const make = (): string => {
      throw new Error('no value');
    };
    expect(() => withUses(() => table([], 'a', make))).toThrow('no value');
    const [value, uses] = withUses(() => table([], 'a', () => 'made'));
    expect([value, uses.length]).toEqual(['made', 1]);
  });
});
