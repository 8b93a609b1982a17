import { describe, expect, it } from 'vitest';
import { changedEntries, type PossibleChanges } from '../../../src/streams/changed-entries.ts';

const conf = '/conf';

describe('changedEntries', () => {
  const namesIn = ({ entries }: PossibleChanges, folder = conf) =>
    entries === 'all' ? 'all' : [...(entries.get(folder) ?? [])];
  /** Returns the changes after a first look, which is at all entries. */
  const looked = () => {
    const changed = changedEntries();
    expect(namesIn(changed.take())).toBe('all');
    return changed;
  };
  const add = (
    changed: ReturnType<typeof changedEntries>,
    ...names: readonly (string | undefined)[]
  ) => names.map((name) => changed.add({ folder: conf, name }));

  it('has the names of a folder that are named, once each, and tells the first event alone', () => {
    const changed = looked();
    expect(add(changed, 'a', 'b', 'a')).toEqual([true, false, false]);
    const changes = changed.take();
    expect(namesIn(changes)).toEqual(['a', 'b']);
    expect(namesIn(changes, '/other')).toEqual([]);
    expect(add(changed, 'c')).toEqual([true]);
  });

  it('knows a path that is named itself, and nothing of folders then', () => {
    const changed = looked();
    changed.add({ folder: undefined, name: '/file' });
    const changes = changed.take();
    expect([[...changes.named], namesIn(changes)]).toEqual([['/file'], []]);
  });

  it.each([
    ['nothing is named', []],
    ['an event names no entry', ['a', undefined, 'b']],
    ['Kubernetes swaps its link', ['a', '..data']],
    [
      'there are so many events that the kernel may have dropped some',
      Array.from({ length: 4_001 }, () => 'a'),
    ],
  ])('counts all as changed if %s', (_, names) => {
    const changed = looked();
    add(changed, ...names);
    expect(namesIn(changed.take())).toBe('all');
    add(changed, 'a');
    expect(namesIn(changed.take())).toEqual(['a']);
  });

  it('keeps no more names than that', () => {
    const changed = looked();
    add(changed, ...Array.from({ length: 4_000 }, (_, n) => String(n)));
    expect(namesIn(changed.take())).toHaveLength(4_000);
  });
});
