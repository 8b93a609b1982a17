import { describe, expect, it } from 'vitest';
import {
  hold,
  memoTable,
  release,
  withUses,
} from '../../../../../src/pilot-discovery/generate/scope/memo.ts';

/** Two tables, the values of one of which are made of the other; and what was made so far. */
function tables() {
  const made: string[] = [];
  const [inner, outer] = [memoTable<string>(), memoTable<string>()];
  const object = {};
  const part = (name: string) => inner([object], name, () => made[made.push(name) - 1] ?? '');
  const whole = (name: string, ...parts: readonly string[]) =>
    outer([object], name, () => {
      made.push(name);
      return parts.map(part).join('+');
    });
  return { made, part, whole };
}

describe('memoTable', () => {
  it('makes a value once for the same objects and an equal text', () => {
    const { made, whole } = tables();
    expect([whole('a', 'x', 'y'), whole('a', 'x', 'y')]).toEqual(['x+y', 'x+y']);
    expect(made).toEqual(['a', 'x', 'y']);
  });

  it('makes it for each object', () => {
    const table = memoTable<object>();
    const [one, other] = [{}, {}];
    const values = [[one], [other], [one, other], [one]].map((objects) =>
      table(objects, '', () => ({})),
    );
    expect(values[0]).toBe(values[3]);
    expect(new Set(values).size).toBe(3);
  });

  it('forgets what nobody holds any more, with what it was made of', () => {
    const { made, whole } = tables();
    const [, first] = withUses(() => whole('a', 'x'));
    const [, second] = withUses(() => whole('a', 'x'));
    hold(first);
    hold(second);
    release(first);
    whole('a', 'x');
    expect(made).toEqual(['a', 'x']);
    release(second);
    whole('a', 'x');
    expect(made).toEqual(['a', 'x', 'a', 'x']);
  });

  it('keeps what another value that is held was made of', () => {
    const { made, part, whole } = tables();
    const [, first] = withUses(() => whole('a', 'x', 'y'));
    const [, second] = withUses(() => whole('b', 'y'));
    hold(first);
    hold(second);
    release(first);
    part('y');
    expect(made).toEqual(['a', 'x', 'y', 'b']);
    part('x');
    expect(made).toEqual(['a', 'x', 'y', 'b', 'x']);
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
