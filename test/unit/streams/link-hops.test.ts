import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linkHops } from '../../../src/streams/link-hops.ts';

describe('linkHops', () => {
  let root = '';
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'link-hops-')));
  });
  afterEach(() => rm(root, { recursive: true }));

  const pathOf = (name: string) => join(root, name);
  /** Returns the hops below the temp folder; the folders above it are the same in every test. */
  const hopsOf = async (path: string) =>
    [...(await linkHops(path)).keys()]
      .filter((hop) => hop.startsWith(`${root}/`))
      .map((hop) => relative(root, hop));

  it('names each folder on the way and the file', async () => {
    await mkdir(pathOf('etc/certs'), { recursive: true });
    await writeFile(pathOf('etc/certs/key.pem'), 'key');
    expect(await hopsOf(pathOf('etc/certs/key.pem'))).toEqual([
      'etc',
      'etc/certs',
      'etc/certs/key.pem',
    ]);
    expect([...(await linkHops(root)).keys()][0]).toBe('/' + (root.split('/')[1] ?? ''));
  });

  it('names the links and folders of a Kubernetes volume', async () => {
    await mkdir(pathOf('..2024_01'));
    await writeFile(pathOf('..2024_01/key.pem'), 'key');
    await symlink('..2024_01', pathOf('..data'));
    await symlink('..data/key.pem', pathOf('key.pem'));
    expect(await hopsOf(pathOf('key.pem'))).toEqual([
      'key.pem',
      '..data',
      '..2024_01',
      '..2024_01/key.pem',
    ]);
  });

  it('follows chained links, relative and absolute, into other folders', async () => {
    await mkdir(pathOf('a'));
    await mkdir(pathOf('b'));
    await writeFile(pathOf('b/key.pem'), 'key');
    await symlink(pathOf('b/link'), pathOf('a/key.pem'));
    await symlink('.././b//key.pem', pathOf('b/link'));
    expect(await hopsOf(pathOf('a/key.pem'))).toEqual([
      'a',
      'a/key.pem',
      'b',
      'b/link',
      'b/key.pem',
    ]);
  });

  it('takes .. from where the link led, as the kernel does', async () => {
    await mkdir(pathOf('deep/er'), { recursive: true });
    await writeFile(pathOf('deep/key.pem'), 'key');
    await symlink('deep/er', pathOf('link'));
    expect(await hopsOf(`${root}/link/../key.pem`)).toEqual([
      'link',
      'deep',
      'deep/er',
      'deep/key.pem',
    ]);
  });

  it('ends with the entry that is to appear in the nearest existing folder', async () => {
    await mkdir(pathOf('etc'));
    expect(await hopsOf(pathOf('etc/certs/new/key.pem'))).toEqual(['etc', 'etc/certs']);
    expect((await linkHops(pathOf('etc/certs/new/key.pem'))).get(pathOf('etc/certs'))).toBe('');
    await symlink('nowhere/key.pem', pathOf('etc/certs'));
    expect(await hopsOf(pathOf('etc/certs'))).toEqual(['etc', 'etc/certs', 'etc/nowhere']);
  });

  it('ends with a file that stands where a folder should be', async () => {
    await writeFile(pathOf('certs'), 'not a folder');
    expect(await hopsOf(pathOf('certs/key.pem'))).toEqual(['certs']);
  });

  it('gives up in a loop of links', async () => {
    await symlink('b', pathOf('a'));
    await symlink('a', pathOf('b'));
    await symlink('self/self', pathOf('self'));
    expect(await hopsOf(pathOf('a'))).toEqual(['a', 'b']);
    expect(await hopsOf(pathOf('self'))).toEqual(['self']);
  });

  it('follows 40 links and not one more', async () => {
    await writeFile(pathOf('0'), 'key');
    for (let n = 1; n <= 41; n++) await symlink(`${n - 1}`, pathOf(`${n}`));
    expect(await hopsOf(pathOf('40'))).toContain('0');
    expect(await hopsOf(pathOf('41'))).not.toContain('0');
  });

  it('resolves a relative path against the working directory', async () => {
    expect(await linkHops('package.json')).toEqual(
      await linkHops(join(process.cwd(), 'package.json')),
    );
  });

  it('gives a replaced entry another identity', async () => {
    await writeFile(pathOf('key.pem'), 'key');
    const before = await linkHops(pathOf('key.pem'));
    await writeFile(pathOf('new'), 'key');
    await rename(pathOf('new'), pathOf('key.pem'));
    expect((await linkHops(pathOf('key.pem'))).get(pathOf('key.pem'))).not.toBe(
      before.get(pathOf('key.pem')),
    );
  });

  it('does not reject for a path that no file can have', async () => {
    expect(await hopsOf(pathOf('\0'))).toEqual(['\0']);
    expect(await linkHops('/')).toEqual(new Map());
  });
});
