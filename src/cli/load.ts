import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

// Without a listener Node opens its inspector at this signal, to everybody who can connect.
process.on('SIGUSR1', () => undefined);

/**
 * Runs the bundle beside this file with V8's code cache of it, so that a start does not compile
 * what every start compiles.
 *
 * The cache holds for the Node that made it; for any other V8 refuses it and compiles, which is
 * slower and nothing else. V8 itself compares no more than the length of the bundle, and a cache
 * that has changed can end the process: before the cache is the hash of bundle and cache, and one
 * that does not match is not used. The build makes one by a trial run with
 * `PILOT_AGENT_CODE_CACHE=write`.
 */
const bundle = join(__dirname, 'main.cjs');
const cache = `${bundle}.cache`;
const hashLength = 32;
const source = readFileSync(bundle);
const script = new Script(source.toString('latin1'), {
  filename: bundle,
  cachedData: read(cache),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
if (process.env['PILOT_AGENT_CODE_CACHE'] === 'write') process.once('exit', () => write(script.createCachedData()));
(script.runInThisContext() as (...context: unknown[]) => void)(exports, require, module, bundle, __dirname);

function read(path: string): Buffer | undefined {
  try {
    const file = readFileSync(path);
    const data = file.subarray(hashLength);
    return file.subarray(0, hashLength).equals(hash(data)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function write(data: Buffer): void {
  writeFileSync(cache, Buffer.concat([hash(data), data]));
}

function hash(data: Buffer): Buffer {
  return createHash('sha256').update(source).update(data).digest();
}
