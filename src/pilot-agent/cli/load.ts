import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { constants, Script } from 'node:vm';

// Without a listener Node opens its inspector at this signal, to everybody who can connect.
process.on('SIGUSR1', () => undefined);

/**
 * Runs the bundle with V8's code cache of it, so that a start does not compile what every start
 * compiles. Bundle and cache are beside this file, or in the executable.
 *
 * The cache holds for the Node that made it, and for its V8 flags; for any other V8 refuses it and
 * compiles, which is slower and nothing else. V8 itself compares no more than the length of the
 * bundle, and a cache that has changed can end the process: before the cache is the hash of bundle
 * and cache, and one that does not match is not used. In an executable they are one file, and the
 * hash is not looked at.
 *
 * The build makes a cache by a trial run with `PILOT_AGENT_CODE_CACHE=write`; with `check` a part
 * is named on the error stream whose cache V8 does not use.
 */
const mode = process.env['PILOT_AGENT_CODE_CACHE'];
const hashLength = 32;
/** What is no part of this program: the launchers, and the control plane. */
const programs = /^(?:pilot-|launcher\.)/;
const loaded = new Map<string, { exports: unknown }>();
/** What caches are made of. Otherwise the bytes of a part are let go of: V8 has its own copy. */
const written = new Map<string, { readonly script: Script; readonly source: Buffer }>();

/** What Node itself gives to a file: in an executable its own modules alone. */
const requireOfNode: (id: string) => unknown = require;

if (mode === 'write') process.once('exit', writeCaches);
load('main.cjs');

/** The exports of a part of the program; what most runs do not need is a part of its own. */
function load(name: string): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
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

/** Of what the run has loaded as it was used, of the other parts as they are loaded. */
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
