import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareFolder } from '../../../../src/shared/files/prepare-folder.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('prepareFolder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'prepare-folder-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(['a', 'a/b/c', 'a/b/', './a//b'])('makes %s, for its owner only', (path) => {
    prepareFolder(`${folder}/${path}`);
    expect(modeOf(join(folder, path))).toBe(0o700);
    expect(modeOf(join(folder, 'a'))).toBe(0o700);
  });

  it('leaves a folder that exists as it is', () => {
    const path = join(folder, 'a');
    mkdirSync(path);
    chmodSync(path, 0o755);
    prepareFolder(path);
    expect(modeOf(path)).toBe(0o755);
  });

  it('follows a link to a folder', () => {
    symlinkSync(folder, join(folder, 'link'));
    prepareFolder(join(folder, 'link/a'));
    expect(existsSync(join(folder, 'a'))).toBe(true);
  });

  it.each(['/proc/pilot-agent', '/proc/pilot-agent/a/b'])(
    'throws for %s, where mkdir -p of Node 20 never returns',
    (path) => {
      expect(() => prepareFolder(path)).toThrow(/ENOENT|EACCES|EPERM/);
    },
  );

  it.each([
    { what: 'a regular file', mode: 0o644 },
    { what: 'a regular file that may be executed', mode: 0o755 },
  ])('throws for $what', ({ mode }) => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    chmodSync(path, mode);
    expect(() => prepareFolder(path)).toThrow();
  });

  it.each(['file/a', 'file/a/b'])('throws below a regular file: %s', (path) => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => prepareFolder(join(folder, path))).toThrow('ENOTDIR');
  });

  it('throws for a dangling link', () => {
    symlinkSync('nowhere/at/all', join(folder, 'link'));
    expect(() => prepareFolder(join(folder, 'link'))).toThrow('ENOENT');
  });
});
