import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  AnyResource,
  Flaw,
} from '../../../../../src/pilot-discovery/istio/documents/model.ts';
import {
  againAfter,
  type FolderState,
  type Looked,
  reduceFolder,
  unknownFolder,
} from '../../../../../src/pilot-discovery/registry/files/folder-state.ts';
import { unknownTree } from '../../../../../src/pilot-discovery/registry/files/folder-tree.ts';
import type { FileContent } from '../../../../../src/pilot-discovery/registry/files/file-content.ts';
import { anyResource, workload } from '../../../../support/mesh-resources.ts';

const keyAt = (name: string) => `WorkloadEntry/default/${name}` as const;

/** Returns a file that has resources with these names, and flaws of others. */
function file(path: string, names: readonly string[], bad: readonly string[] = []): FileContent {
  const origin = { source: 'files', path, line: 1 };
  const flaws: readonly Flaw[] = bad.map((name) => ({
    key: keyAt(name),
    origin,
    field: '',
    reason: `${name} is bad`,
    severity: 'error',
  }));
  const resources = names.map((name): AnyResource => ({
    ...anyResource(keyAt(name), workload({})),
    origin,
  }));
  const digest = `${path} ${names.join()} ${bad.join()}`;
  return { path, digest, documents: new Map(), resources, flaws, closing: [], kept: new Map() };
}

/** Returns a look that finds these files; undefined stands for a file that is gone. */
const looked = (
  now: number,
  ...files: readonly (readonly [path: string, file: FileContent | undefined])[]
): Looked => ({
  type: 'read',
  tree: unknownTree,
  readings: new Map(
    files.map(([path, content]) => [
      path,
      { digest: content?.digest ?? 'absent', file: content, isDoubtful: false },
    ]),
  ),
  unlisted: undefined,
  now,
});

const folded = (...looks: readonly Looked[]) =>
  looks.reduce<ReturnType<typeof reduceFolder>>(
    ([state], look) => reduceFolder(state, look, 'files'),
    [unknownFolder, []],
  );

/** Returns `NAME PATH` of each resource that counts. */
const winners = ({ winners: { resources } }: FolderState) =>
  [...resources.values()].map(({ name, origin }) => `${name} ${origin.path}`);

describe('reduceFolder', () => {
  it('tells what there is, then that this was all; then what changes', () => {
    const first = looked(0, ['a', file('a', ['x', 'y'])], ['b', file('b', ['y', 'z'])]);
    const [state, events] = folded(first);
    expect(events.map(({ type }) => type)).toEqual(['changed', 'flaws', 'synced']);
    expect(winners(state)).toEqual(['x a', 'y a', 'z b']);
    const [after, laterEvents] = folded(first, looked(1, ['a', file('a', ['x'])]));
    expect(winners(after)).toEqual(['x a', 'y b', 'z b']);
    expect(laterEvents).toMatchObject([
      { type: 'changed', upserts: [{ name: 'x' }, { name: 'y' }], removes: [] },
      { type: 'flaws', flaws: [] },
    ]);
  });

  it('tells once that the folder is lost, and keeps what was there', () => {
    const lost: Looked = { type: 'lost', tree: unknownTree, reason: 'away' };
    const first = looked(0, ['a', file('a', ['x'])]);
    const [state, events] = folded(first, lost);
    expect(events).toEqual([{ type: 'lost', source: 'files', reason: 'away' }]);
    expect([winners(state), againAfter(state, 5)]).toEqual([['x a'], 1_000]);
    expect([againAfter(state, 2_000), againAfter(state, 3_600_000)]).toEqual([18_000, 60_000]);
    expect(folded(first, lost, lost)[1]).toEqual([]);
    expect(folded(first, lost, looked(1))[1]).toEqual([{ type: 'synced', source: 'files' }]);
  });

  /** Returns a look that finds these files gone, perhaps in the middle of a change. */
  const gone = (now: number, ...paths: readonly string[]): Looked => ({
    ...looked(now),
    type: 'read',
    readings: new Map(
      paths.map((path) => [path, { digest: 'absent', file: undefined, isDoubtful: true }]),
    ),
    unlisted: undefined,
    now,
  });

  it('believes what takes something away once it has lasted', () => {
    const first = looked(0, ['a', file('a', ['x'])]);
    const [state, events] = folded(first, gone(100, 'a'));
    expect([winners(state), againAfter(state, 5), events]).toEqual([['x a'], 20, []]);
    const [after, laterEvents] = folded(first, gone(100, 'a'), gone(120, 'a'));
    expect([winners(after), againAfter(after, 5)]).toEqual([[], undefined]);
    expect(laterEvents).toMatchObject([{ type: 'changed', upserts: [], removes: [keyAt('x')] }]);
  });

  it('takes files that go one after the other for one removal, for 2 s', () => {
    const first = looked(0, ...['a', 'b', 'c'].map((path) => [path, file(path, [path])] as const));
    const [state, events] = folded(
      first,
      gone(100, 'a'),
      gone(119, 'a', 'b'),
      gone(138, 'a', 'b', 'c'),
    );
    expect([winners(state).length, events]).toEqual([3, []]);
    const looks = [gone(100, 'a'), gone(119, 'a', 'b'), gone(138, 'a', 'b', 'c')];
    const [after, laterEvents] = folded(first, ...looks, gone(158, 'a', 'b', 'c'));
    expect(winners(after)).toEqual([]);
    expect(laterEvents).toMatchObject([{ type: 'changed', removes: ['a', 'b', 'c'].map(keyAt) }]);
    const late = folded(first, gone(100, 'a'), gone(2_095, 'a', 'b'), gone(2_101, 'a', 'b'));
    expect(winners(late[0])).toEqual(['b b', 'c c']);
  });

  it('comes to the same winners whatever the order in which files have changed', () => {
    const path = fc.constantFrom('a', 'b', 'c', 'd');
    const names = fc.subarray(['u', 'v', 'w', 'x', 'y', 'z']);
    const edit = fc.tuple(path, fc.option(names, { nil: undefined }));
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 20 }), (edits) => {
        const looks = edits.map(([editedPath, resourceNames], now) =>
          looked(now, [
            editedPath,
            resourceNames === undefined ? undefined : file(editedPath, resourceNames),
          ]),
        );
        const [state] = folded(...looks);
        const last = [...new Map(edits)].sort(([a], [b]) => (a < b ? -1 : 1));
        const expected = new Map<string, string>();
        for (const [editedPath, resourceNames = []] of last)
          for (const name of resourceNames) if (!expected.has(name)) expected.set(name, editedPath);
        expect(winners(state)).toEqual([...expected].map((entry) => entry.join(' ')).sort());
        const unused = last.flatMap(([editedPath, resourceNames = []]) =>
          resourceNames
            .filter((name) => expected.get(name) !== editedPath)
            .map((name) => `${keyAt(name)} ${editedPath}`),
        );
        expect(state.flaws.map(({ key, origin }) => `${key ?? ''} ${origin.path}`)).toEqual(unused);
      }),
    );
  });

  it('keeps the last good version of what is bad, in whichever file that is', () => {
    const first = looked(0, ['a', file('a', ['x'])]);
    const moved = looked(1, ['a', undefined], ['b', file('b', [], ['x'])]);
    const [state, events] = folded(first, moved);
    expect(winners(state)).toEqual(['x a']);
    expect(events.map(({ type }) => type)).toEqual(['flaws']);
    expect(winners(folded(first, moved, looked(2, ['b', file('b', [])]))[0])).toEqual([]);
  });

  /** Returns how often the earlier contents of files are read when one of `count` files changes. */
  function readsAmong(count: number): number {
    let reads = 0;
    const watched = (content: FileContent) =>
      new Proxy(content, {
        get(target, name) {
          reads += 1;
          return Reflect.get(target, name) as unknown;
        },
      });
    const paths = Array.from({ length: count }, (_, index) => `f${index}`);
    const [state] = folded(
      looked(0, ...paths.map((path) => [path, watched(file(path, [path]))] as const)),
    );
    reads = 0;
    const [after, events] = reduceFolder(
      state,
      looked(1, ['f1', file('f1', ['f1', 'g'])]),
      'files',
    );
    expect(after.winners.resources.size).toBe(count + 1);
    expect(events).toHaveLength(1);
    return reads;
  }

  it('looks at no file that has not changed, however many there are', () => {
    expect(readsAmong(2_000)).toBe(readsAmong(20));
  });
});
