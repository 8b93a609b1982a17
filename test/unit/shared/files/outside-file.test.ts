import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bytesOutside,
  eachPiece,
  type OutsideFile,
  readOutside,
  readOutsideSync,
} from '../../../../src/shared/files/outside-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'outside-file-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const pathOf = (name: string) => join(folder, name);
const open = () => readdirSync('/proc/self/fd').length;

describe.each<
  [way: string, read: (path: string, most: number) => OutsideFile | Promise<OutsideFile>]
>([
  ['at once', readOutsideSync],
  ['without holding the loop', readOutside],
])('a file of others, read %s', (_, read) => {
  const reason = async (path: string, most = 10) => {
    const file = await read(path, most);
    return file.kind === 'read' ? file.bytes.toString() : file.reason;
  };

  it('is read as a whole, to the last byte that is allowed', async () => {
    const bytes = Buffer.alloc(200_000, 'ab');
    writeFileSync(pathOf('large'), bytes);
    writeFileSync(pathOf('empty'), '');
    expect(await read(pathOf('large'), bytes.length)).toEqual({ kind: 'read', bytes });
    expect(await read(pathOf('empty'), 0)).toEqual({ kind: 'read', bytes: Buffer.alloc(0) });
    expect(await reason('/proc/self/oom_score_adj', 10)).toMatch(/^-?\d+\n$/); // its size is 0
  });

  it('is read through links, as Kubernetes mounts files', async () => {
    mkdirSync(pathOf('..1'));
    writeFileSync(pathOf('..1/key.pem'), 'key');
    symlinkSync('..1', pathOf('..data'));
    symlinkSync('..data/key.pem', pathOf('key.pem'));
    expect(await reason(pathOf('key.pem'))).toBe('key');
  });

  it('that is not there is absent, and nothing else is', async () => {
    expect(await read(pathOf('none'), 10)).toMatchObject({ kind: 'absent', isShort: false });
    symlinkSync('loop', pathOf('loop'));
    expect(await read(pathOf('loop'), 10)).toMatchObject({ kind: 'unreadable' });
    expect(await read('\0', 10)).toMatchObject({ kind: 'unreadable' });
    expect(await read('', 10)).toMatchObject({ kind: 'absent' });
  });

  it('that is not a regular file is not waited for', async () => {
    execFileSync('mkfifo', [pathOf('fifo')]);
    const server = createServer().listen(pathOf('socket'));
    await once(server, 'listening');
    mkdirSync(pathOf('folder'));
    const before = open();
    expect(await reason(pathOf('fifo'))).toBe('it is a FIFO, and not a regular file');
    expect(await reason(pathOf('folder'))).toBe('it is a directory, and not a regular file');
    expect(await reason(pathOf('socket'))).toBe(
      'it is a socket or a device, and not a regular file',
    );
    expect(await reason('/dev/zero')).toBe('it is a device, and not a regular file');
    expect(open()).toBe(before);
    server.close();
  });

  it('that is larger is told with its size, and one without a size is read no further', async () => {
    writeFileSync(pathOf('large'), 'abcd');
    expect(await reason(pathOf('large'), 3)).toBe('it has 4 bytes, and 3 are read at most');
    expect(await reason('/proc/self/pagemap', 5_000)).toBe(
      'it does not end, and 5000 are read at most',
    );
    execFileSync('truncate', ['-s', '1T', pathOf('sparse')]);
    expect(await reason(pathOf('sparse'))).toBe(
      'it has 1099511627776 bytes, and 10 are read at most',
    );
  });

  it('that cannot be read says what the system says', async () => {
    expect(await reason('/proc/self/mem')).toBe('EIO: i/o error, read');
  });
});

describe('eachPiece', () => {
  it('ends when nobody wants more', async () => {
    execFileSync('truncate', ['-s', '1G', pathOf('sparse')]);
    let pieces = 0;
    const take = () => (pieces += 1);
    expect(await eachPiece(pathOf('sparse'), 2 ** 30, take, () => pieces < 3)).toBeUndefined();
    expect(pieces).toBe(3);
  });
});

describe('bytesOutside', () => {
  it('rejects with what is wrong', async () => {
    writeFileSync(pathOf('token'), 'abc');
    expect((await bytesOutside(pathOf('token'), 3)).toString()).toBe('abc');
    await expect(bytesOutside(pathOf('token'), 2)).rejects.toThrow(
      'it has 3 bytes, and 2 are read at most',
    );
    await expect(bytesOutside(pathOf('none'), 2)).rejects.toThrow('ENOENT');
  });
});
