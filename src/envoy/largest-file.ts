import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Resolves to the largest file at any depth of a folder that others write to meanwhile: what vanishes under the walk counts as nothing. Never rejects. */
export async function largestFile(folder: string): Promise<{ path: string; bytes: number }> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  let largest = { path: folder, bytes: 0 };
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true && found.size >= largest.bytes) largest = { path, bytes: found.size };
  }
  return largest;
}
