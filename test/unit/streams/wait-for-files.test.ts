import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitForFiles } from '../../../src/streams/wait-for-files.ts';

describe('waitForFiles', () => {
  let folder: string;
  let waiting: Subscription | undefined;
  let emitted: (readonly string[] | 'end')[];

  const wait = (...paths: readonly string[]) => {
    waiting = waitForFiles(paths, { poll: 10 }).subscribe({
      next: (missing) => emitted.push(missing),
      error: (error: unknown) => expect.unreachable(String(error)),
      complete: () => emitted.push('end'),
    });
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wait-for-files-'));
    emitted = [];
  });
  afterEach(() => {
    waiting?.unsubscribe();
    rmSync(folder, { recursive: true });
  });

  it('waits until a file exists, an empty one too, and in a folder that was not there either', async () => {
    const [file, linked] = [join(folder, 'file'), join(folder, 'later', 'file')];
    wait(file, linked);
    await expect.poll(() => emitted).toHaveLength(1);
    writeFileSync(file, '');
    await expect.poll(() => emitted).toHaveLength(2);
    symlinkSync('.', join(folder, 'later'));
    await expect.poll(() => emitted).toContain('end');
    expect(emitted).toEqual([[file, linked], [linked], [], 'end']);
  });

  it('takes a dangling link for a file that is not there yet', async () => {
    const link = join(folder, 'link');
    symlinkSync('target', link);
    wait(link);
    await expect.poll(() => emitted).toHaveLength(1);
    writeFileSync(join(folder, 'target'), '');
    await expect.poll(() => emitted).toContain('end');
    expect(emitted).toEqual([[link], [], 'end']);
  });

  it('does not wait for a file below a file', async () => {
    writeFileSync(join(folder, 'file'), '');
    wait(join(folder, 'file', 'key.pem'));
    await expect.poll(() => emitted).toContain('end');
    expect(emitted).toEqual([[join(folder, 'file', 'key.pem')], 'end']);
  });

  it('takes a folder for there', async () => {
    wait(folder);
    await expect.poll(() => emitted).toContain('end');
    expect(emitted).toEqual(['end']);
  });
});
