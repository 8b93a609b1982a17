import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

/**
 * Runs the bundle beside this file with V8's code cache of it, so that a start does not compile
 * what every start compiles.
 *
 * The cache holds for the Node that made it; for any other V8 refuses it and compiles, which is
 * slower and nothing else. The build makes one by a trial run with `PILOT_AGENT_CODE_CACHE=write`.
 */
const bundle = join(__dirname, 'main.cjs');
const cache = `${bundle}.cache`;
const script = new Script(readFileSync(bundle, 'latin1'), {
  filename: bundle,
  cachedData: read(cache),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
if (process.env['PILOT_AGENT_CODE_CACHE'] === 'write') process.once('exit', () => writeFileSync(cache, script.createCachedData()));
(script.runInThisContext() as (...context: unknown[]) => void)(exports, require, module, bundle, __dirname);

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
