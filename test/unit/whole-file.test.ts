import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { remove, writeWhole } from '../../src/files/whole-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'whole-file-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('writeWhole', () => {
  it('writes for the owner alone, whoever could read what was there, and leaves nothing beside it', () => {
    const path = join(folder, 'file');
    writeWhole(path, 'one');
    chmodSync(path, 0o644);
    writeWhole(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('puts another file there, so that who reads the old one reads on', () => {
    const path = join(folder, 'file');
    writeWhole(path, 'one');
    const { ino } = statSync(path);
    writeWhole(path, 'two');
    expect(statSync(path).ino).not.toBe(ino);
  });

  it('throws what the system says, and leaves what was there', () => {
    expect(() => writeWhole(join(folder, 'no', 'file'), 'text')).toThrow('ENOENT');
    mkdirSync(join(folder, 'taken'));
    expect(() => writeWhole(join(folder, 'taken'), 'text')).toThrow('EISDIR');
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});

describe('remove', () => {
  it('removes a file, and minds nothing that is none', () => {
    const path = join(folder, 'file');
    writeWhole(path, 'text');
    remove(path);
    expect(existsSync(path)).toBe(false);
    expect(() => remove(path)).not.toThrow();
    expect(() => remove(folder)).not.toThrow();
    expect(existsSync(folder)).toBe(true);
  });
});
