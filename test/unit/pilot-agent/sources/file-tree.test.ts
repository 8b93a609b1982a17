import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileTree, fileTree } from '../../../../src/pilot-agent/sources/file-tree.ts';

describe('fileTree', () => {
  const everything = { entries: 'all', named: new Set<string>() } as const;
  let folder = '';
  let tree: FileTree;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'file-tree-'));
    tree = fileTree([folder], { largest: 1_000, keeps: true });
    for (const name of ['a', 'b', '.hidden', '..data']) writeFileSync(join(folder, name), name);
    mkdirSync(join(folder, 'sub'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function filesOf(changed: Parameters<FileTree['look']>[0]) {
    const [treePath] = await tree.look(changed);
    return new Map(treePath?.files);
  }

  it('has the files of a folder, but no subfolder and no name with a dot in front', async () => {
    const files = await filesOf(everything);
    expect([...files].map(([name, { bytes }]) => [name, String(bytes)]).sort()).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('reads a file again only if it has changed', async () => {
    const before = await filesOf(everything);
    writeFileSync(join(folder, 'b'), 'more');
    const after = await filesOf(everything);
    expect(after.get('a')).toBe(before.get('a'));
    expect(String(after.get('b')?.bytes)).toBe('more');
  });

  it('reads a file again if an event names it, even if it looks the same', async () => {
    const before = await filesOf(everything);
    const entries = new Map([[folder, new Set(['a', '.hidden'])]]);
    const after = await filesOf({ entries, named: new Set() });
    expect(after.get('a')).not.toBe(before.get('a'));
    expect(after.get('a')).toEqual(before.get('a'));
    expect(after.get('b')).toBe(before.get('b'));
    expect(after.has('.hidden')).toBe(false);
  });
});
