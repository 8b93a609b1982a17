import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../../../support/left-out.ts';
import {
  remove,
  removeUnfinished,
  writeOnce,
  writeWhole,
} from '../../../../src/shared/files/whole-file.ts';

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

describe('writeOnce', () => {
  it('writes a file for its owner alone, and leaves an existing one', () => {
    const path = join(folder, 'file');
    expect(writeOnce(path, Buffer.from('one'))).toBe('written');
    expect(writeOnce(path, Buffer.from('two'))).toBe('exists');
    expect(readFileSync(path, 'utf8')).toBe('one');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('does not follow a link, nor replace a folder', () => {
    symlinkSync('nowhere', join(folder, 'link'));
    mkdirSync(join(folder, 'taken'));
    for (const name of ['link', 'taken'])
      expect(writeOnce(join(folder, name), Buffer.from('text'))).toBe('exists');
    expect(readdirSync(folder).sort()).toEqual(['link', 'taken']);
    expect(() => writeOnce(join(folder, 'no', 'file'), Buffer.from('text'))).toThrow('ENOENT');
  });
});

describe('a folder that others may write into', () => {
  const stranger = 4711;
  const path = () => join(folder, 'file');

  it('a link in the place of the file is replaced, and not followed', () => {
    writeFileSync(join(folder, 'foreign'), 'theirs');
    symlinkSync('foreign', path());
    symlinkSync('foreign', `${path()}.new`); // earlier versions wrote this name first
    writeWhole(path(), 'ours');
    expect(lstatSync(path()).isFile()).toBe(true);
    expect(readFileSync(path(), 'utf8')).toBe('ours');
    expect(readFileSync(join(folder, 'foreign'), 'utf8')).toBe('theirs');
  });

  it('a file of another user does not become ours with what is in it', () => {
    for (const name of ['file', 'file.new'])
      writeFileSync(join(folder, name), 'theirs', { mode: 0o666 });
    if (process.geteuid?.() === 0)
      for (const name of ['file', 'file.new']) chownSync(join(folder, name), stranger, stranger);
    writeWhole(path(), 'token');
    const { uid, mode } = statSync(path());
    expect([uid, mode & 0o777]).toEqual([process.geteuid?.(), 0o600]);
    expect(readFileSync(`${path()}.new`, 'utf8')).toBe('theirs');
  });

  it('is cleared of what a killed agent has left unfinished, and of nothing else', () => {
    const left = 'file.0123456789abcdef.new';
    const others = [
      'file',
      'file.new',
      'file.0123.new',
      'link.0123456789abcdef.new',
      'folder.0123456789abcdef.new',
    ];
    writeFileSync(join(folder, left), '');
    for (const name of others.slice(0, 3)) writeFileSync(join(folder, name), '');
    symlinkSync('file', join(folder, 'link.0123456789abcdef.new'));
    mkdirSync(join(folder, 'folder.0123456789abcdef.new'));
    removeUnfinished(folder);
    expect(readdirSync(folder).sort()).toEqual(others.sort());
    expect(() => removeUnfinished(join(folder, 'none'))).not.toThrow();
  });

  if (process.geteuid?.() !== 0) leftOut('a file that another user has left');
  it.runIf(process.geteuid?.() === 0)('keeps what another user has left there', () => {
    const left = join(folder, 'file.0123456789abcdef.new');
    writeFileSync(left, '');
    chownSync(left, stranger, stranger);
    removeUnfinished(folder);
    expect(existsSync(left)).toBe(true);
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
