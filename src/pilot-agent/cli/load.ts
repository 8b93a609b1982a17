import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { constants, Script } from 'node:vm';

// Without a listener, Node opens its inspector at this signal, to everybody who can connect.
process.on('SIGUSR1', () => undefined);

/**
 * Runs the bundle with its V8 code cache, so that no start compiles the same code again. Bundle and
 * cache are beside this file, or in the executable.
 *
 * The cache is valid only for the Node that made it, and for its V8 flags. Any other V8 refuses it
 * and compiles, which is only slower. V8 itself compares only the length of the bundle, and a
 * changed cache can end the process. So the hash of bundle and cache precedes the cache, and a
 * cache with a wrong hash is not used. In an executable both are one file, and the hash is not
 * checked.
 *
 * The build makes a cache with a trial run (`PILOT_AGENT_CODE_CACHE=write`). With `check`, stderr
 * names each part whose cache V8 refuses.
 */
const mode = process.env['PILOT_AGENT_CODE_CACHE'];
const hashLength = 32;
/** Files that are not part of this program: the launchers, and the control plane. */
const programs = /^(?:pilot-|launcher\.)/;
const loaded = new Map<string, { exports: unknown }>();
/**
 * The input of the caches. Without `write`, the bytes of a part are not kept: V8 has its own copy.
 */
const written = new Map<string, { readonly script: Script; readonly source: Buffer }>();

/** Node's own `require` for a file: in an executable it finds only Node's modules. */
const requireOfNode: (id: string) => unknown = require;

if (mode === 'write') process.once('exit', writeCaches);
load('main.cjs');

/**
 * Returns the exports of a part of the program. Code that most runs do not need is in separate
 * parts.
 */
function load(name: string): unknown {
  const cached = loaded.get(name);
  if (cached !== undefined) return cached.exports;
  const filename = join(__dirname, name);
  const source = read(name);
  const script = new Script(source.toString('latin1'), {
    filename,
    cachedData: readCache(name, source),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (mode === 'check' && script.cachedDataRejected !== false)
    process.stderr.write(`the code cache of ${name} is not used\n`);
  const part = { exports: {} };
  loaded.set(name, part);
  if (mode === 'write') written.set(name, { script, source });
  (script.runInThisContext() as (...context: unknown[]) => void)(
    part.exports,
    requirePart,
    part,
    filename,
    __dirname,
  );
  return part.exports;
}

function requirePart(id: string): unknown {
  return id.startsWith('./') ? load(id.slice(2)) : requireOfNode(id);
}

function read(name: string): Buffer {
  return isSea()
    ? Buffer.from(getRawAsset(name) as ArrayBuffer)
    : readFileSync(join(__dirname, name));
}

function readCache(name: string, source: Buffer): Buffer | undefined {
  try {
    const file = read(`${name}.cache`);
    const data = file.subarray(hashLength);
    return isSea() || file.subarray(0, hashLength).equals(hash(source, data)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the caches of all parts. The cache of a part that the run has used also has the functions
 * that the run compiled.
 */
function writeCaches(): void {
  for (const name of readdirSync(__dirname))
    if (name.endsWith('.cjs') && !programs.test(name)) load(name);
  for (const [name, { script, source }] of written) {
    const data = script.createCachedData();
    writeFileSync(join(__dirname, `${name}.cache`), Buffer.concat([hash(source, data), data]));
  }
}

function hash(source: Buffer, data: Buffer): Buffer {
  return createHash('sha256').update(source).update(data).digest();
}
