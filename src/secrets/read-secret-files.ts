import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asyncScheduler, defer, type Observable, type SchedulerLike } from 'rxjs';
import type { SetReading } from './secret.ts';
import { setFlaw } from './set-flaw.ts';

/** Where the parts of a set are; an empty path is a part that the set does not have. */
export interface SecretPaths {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

/** Some 500 roots fit in. In bytes. */
const largest = 1024 * 1024;

/**
 * Reads the files of a set once, checks them, and emits what came of it. Cold; one value; never errors.
 *
 * What is absent is no part of the set, but half a pair is refused: its other half is on its way.
 */
export function readSecretFiles({ chain, key, root }: SecretPaths, scheduler: SchedulerLike = asyncScheduler): Observable<SetReading> {
  const source = [chain, key, root].filter((path) => path !== '').join(', ');
  const refused = (reason: string): SetReading => ({ type: 'refused', source, reason });
  return defer(async (): Promise<SetReading> => {
    const [chainText, keyText, rootText] = await Promise.all([chain, key, root].map(read));
    const tooLarge = [chain, key, root].find((_, index) => [chainText, keyText, rootText][index] === tooMuch);
    if (tooLarge !== undefined) return refused(`${tooLarge}: the file is larger than 1 MiB`);
    if (chainText === undefined && keyText !== undefined) return refused(`${chain}: the certificate is missing`);
    if (chainText !== undefined && keyText === undefined) return refused(`${key}: the key is missing`);
    const set = {
      ...(chainText !== undefined && keyText !== undefined && { pair: { chain: chainText, key: keyText } }),
      ...(rootText !== undefined && { roots: rootText }),
    };
    const flaw = setFlaw(set, scheduler.now());
    return flaw === undefined ? { type: 'set', source, set } : refused(`${source}: ${flaw}`);
  });
}

const tooMuch = '\0';

async function read(path: string): Promise<string | undefined> {
  if (path === '') return undefined;
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // a FIFO must not hold a thread of the pool
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return undefined;
      return stats.size > largest ? tooMuch : await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
