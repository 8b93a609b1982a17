import { renameSync, rmSync } from 'node:fs';
import { buildLibrary } from './build-library.mjs';
import { buildProgram } from './build-program.mjs';

/**
 * Program and library are built beside `dist`, and take its place when both are whole: a build that
 * fails leaves what is there as it is.
 */
const [beside, before] = ['new', 'old'].map((name) => `dist.${name}-${process.pid}`);
try {
  // Each to its end, so that nothing is written once `beside` is removed.
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
