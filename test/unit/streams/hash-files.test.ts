import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { firstValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashFiles } from '../../../src/streams/file-source.ts';

const none = { defaultValue: '' };
const linkOf = (fd: string) => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
};

describe('hashFiles', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'hash-files-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const pathOf = (name: string) => join(root, name);
  const hash = (...names: string[]) => firstValueFrom(hashFiles(names.map(pathOf)), none);

  it('covers name, length and content of three files and the absence of a fourth', async () => {
    const paths = ['cert.pem', 'key.pem', 'root-cert.pem'].map(pathOf);
    for (const path of paths) await writeFile(path, path);
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const expected = sha256(
      JSON.stringify([
        ...paths.map((path) => [path, path.length, sha256(path)]),
        [pathOf('missing-file')],
      ]),
    );
    expect(await hash('cert.pem', 'key.pem', 'root-cert.pem', 'missing-file')).toBe(expected);
    // The peer's hashes are equal.
    expect(await hash('cert.pem', 'key.pem', 'root-cert.pem')).not.toBe(expected);
    expect(await firstValueFrom(hashFiles([]), none)).toBe(sha256('[]'));
  });

  it('emits one reading a subscription and completes', async () => {
    const hash$ = hashFiles([pathOf('key.pem')]);
    await writeFile(pathOf('key.pem'), 'one');
    const firstReading = await firstValueFrom(hash$.pipe(toArray()), { defaultValue: [] });
    await writeFile(pathOf('key.pem'), 'two');
    const secondReading = await firstValueFrom(hash$.pipe(toArray()), { defaultValue: [] });
    expect([firstReading.length, secondReading.length]).toEqual([1, 1]);
    expect(firstReading).not.toEqual(secondReading);
  });

  it('tells an empty file from an absent one', async () => {
    const absent = await hash('key.pem');
    await writeFile(pathOf('key.pem'), '');
    expect(await hash('key.pem')).not.toBe(absent);
  });

  it('takes what is not a regular file as absent, and does not hang on a FIFO', async () => {
    const absent = await hash('key.pem');
    await mkdir(pathOf('key.pem'));
    expect(await hash('key.pem')).toBe(absent);
    await rm(pathOf('key.pem'), { recursive: true });
    execFileSync('mkfifo', [pathOf('key.pem')]);
    expect(await hash('key.pem')).toBe(absent);
    await rm(pathOf('key.pem'));
    await symlink('key.pem', pathOf('key.pem'));
    expect(await hash('key.pem')).toBe(absent);
  });

  it('never errors, whatever the path', async () => {
    expect(
      await firstValueFrom(hashFiles(['', '\0', '/proc/self/mem', '/dev/zero']), none),
    ).toMatch(/^[0-9a-f]{64}$/);
  });

  it('ends when nobody waits for it any more', async () => {
    execFileSync('truncate', ['-s', '60M', pathOf('large')]);
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === pathOf('large')).length;
    const reading = hashFiles([pathOf('large')]).subscribe();
    await expect.poll(open).toBe(1);
    reading.unsubscribe();
    await expect.poll(open).toBe(0);
  });

  it('reads through links', async () => {
    await writeFile(pathOf('target'), 'one');
    await symlink('target', pathOf('key.pem'));
    const before = await hash('key.pem');
    await writeFile(pathOf('target'), 'two');
    expect(await hash('key.pem')).not.toBe(before);
  });

  it('sees the last byte of a large file', async () => {
    const content = randomBytes(20 * 1024 * 1024);
    await writeFile(pathOf('bundle.pem'), content);
    const before = await hash('bundle.pem');
    content[content.length - 1] = 255 - (content.at(-1) ?? 0);
    await writeFile(pathOf('bundle.pem'), content);
    expect(await hash('bundle.pem')).not.toBe(before);
  });

  it('differs with the order of the list', async () => {
    await writeFile(pathOf('a'), 'same');
    await writeFile(pathOf('b'), 'same');
    expect(await hash('a', 'b')).not.toBe(await hash('b', 'a'));
  });

  it('differs whenever the same content is cut elsewhere or a file is absent', async () => {
    const cuts = fc.array(fc.option(fc.nat({ max: 12 })), { minLength: 3, maxLength: 3 });
    const layOut = async (content: string, lengths: readonly (number | null)[]) => {
      let start = 0;
      const files: (string | null)[] = [];
      for (const [index, length] of lengths.entries()) {
        const file = length === null ? null : content.slice(start, (start += length));
        files.push(file);
        await (file === null
          ? rm(pathOf(`${index}`), { force: true })
          : writeFile(pathOf(`${index}`), file));
      }
      return { files, hash: await hash('0', '1', '2') };
    };
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 0, maxLength: 24 }),
        cuts,
        cuts,
        async (content, left, right) => {
          const leftLayout = await layOut(content, left);
          const rightLayout = await layOut(content, right);
          expect(leftLayout.hash === rightLayout.hash).toBe(
            JSON.stringify(leftLayout.files) === JSON.stringify(rightLayout.files),
          );
        },
      ),
    );
  });
});
