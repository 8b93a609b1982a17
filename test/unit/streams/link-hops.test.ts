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

  const at = (name: string) => join(root, name);
  /** The hops below the temp folder; the folders above it are the same in every test. */
  const hopsOf = async (path: string) =>
    [...(await linkHops(path)).keys()]
      .filter((hop) => hop.startsWith(`${root}/`))
      .map((hop) => relative(root, hop));

  it('names each folder on the way and the file', async () => {
    await mkdir(at('etc/certs'), { recursive: true });
    await writeFile(at('etc/certs/key.pem'), 'key');
    expect(await hopsOf(at('etc/certs/key.pem'))).toEqual([
      'etc',
      'etc/certs',
      'etc/certs/key.pem',
    ]);
    expect([...(await linkHops(root)).keys()][0]).toBe('/' + (root.split('/')[1] ?? ''));
  });

  it('names the links and folders of a Kubernetes volume', async () => {
    await mkdir(at('..2024_01'));
    await writeFile(at('..2024_01/key.pem'), 'key');
    await symlink('..2024_01', at('..data'));
    await symlink('..data/key.pem', at('key.pem'));
    expect(await hopsOf(at('key.pem'))).toEqual([
      'key.pem',
      '..data',
      '..2024_01',
      '..2024_01/key.pem',
    ]);
  });

  it('follows chained links, relative and absolute, into other folders', async () => {
    await mkdir(at('a'));
    await mkdir(at('b'));
    await writeFile(at('b/key.pem'), 'key');
    await symlink(at('b/link'), at('a/key.pem'));
    await symlink('.././b//key.pem', at('b/link'));
    expect(await hopsOf(at('a/key.pem'))).toEqual(['a', 'a/key.pem', 'b', 'b/link', 'b/key.pem']);
  });

  it('takes .. from where the link led, as the kernel does', async () => {
    await mkdir(at('deep/er'), { recursive: true });
    await writeFile(at('deep/key.pem'), 'key');
    await symlink('deep/er', at('link'));
    expect(await hopsOf(`${root}/link/../key.pem`)).toEqual([
      'link',
      'deep',
      'deep/er',
      'deep/key.pem',
    ]);
  });

  it('ends with the entry that is to appear in the nearest existing folder', async () => {
    await mkdir(at('etc'));
    expect(await hopsOf(at('etc/certs/new/key.pem'))).toEqual(['etc', 'etc/certs']);
    expect((await linkHops(at('etc/certs/new/key.pem'))).get(at('etc/certs'))).toBe('');
    await symlink('nowhere/key.pem', at('etc/certs'));
    expect(await hopsOf(at('etc/certs'))).toEqual(['etc', 'etc/certs', 'etc/nowhere']);
  });

  it('ends with a file that stands where a folder should be', async () => {
    await writeFile(at('certs'), 'not a folder');
    expect(await hopsOf(at('certs/key.pem'))).toEqual(['certs']);
  });

  it('gives up in a loop of links', async () => {
    await symlink('b', at('a'));
    await symlink('a', at('b'));
    await symlink('self/self', at('self'));
    expect(await hopsOf(at('a'))).toEqual(['a', 'b']);
    expect(await hopsOf(at('self'))).toEqual(['self']);
  });

  it('follows 40 links and not one more', async () => {
    await writeFile(at('0'), 'key');
    for (let n = 1; n <= 41; n++) await symlink(`${n - 1}`, at(`${n}`));
    expect(await hopsOf(at('40'))).toContain('0');
    expect(await hopsOf(at('41'))).not.toContain('0');
  });

  it('resolves a relative path against the working directory', async () => {
    expect(await linkHops('package.json')).toEqual(
      await linkHops(join(process.cwd(), 'package.json')),
    );
  });

  it('gives a replaced entry another identity', async () => {
    await writeFile(at('key.pem'), 'key');
    const before = await linkHops(at('key.pem'));
    await writeFile(at('new'), 'key');
    await rename(at('new'), at('key.pem'));
    expect((await linkHops(at('key.pem'))).get(at('key.pem'))).not.toBe(before.get(at('key.pem')));
  });

  it('does not reject for a path that no file can have', async () => {
    expect(await hopsOf(at('\0'))).toEqual(['\0']);
    expect(await linkHops('/')).toEqual(new Map());
  });
});
