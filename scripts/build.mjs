import { renameSync, rmSync } from 'node:fs';
import { buildLibrary } from './build-library.mjs';
import { buildProgram } from './build-program.mjs';

/**
 * Program and library are built beside `dist`, and replace it when both are complete. So a build
 * that fails does not change `dist`.
 */
const [beside, before] = ['new', 'old'].map((name) => `dist.${name}-${process.pid}`);
try {
  // It waits for both builds, so that none of them writes after `beside` is removed.
  for (const { reason } of await Promise.allSettled([
    buildProgram(beside),
    buildLibrary(`${beside}/lib`),
  ]))
    if (reason !== undefined) throw reason;
  try {
    renameSync('dist', before);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // the first build
  }
  renameSync(beside, 'dist');
} finally {
  for (const folder of [beside, before]) rmSync(folder, { recursive: true, force: true });
}
