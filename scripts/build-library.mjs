import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

/** Each module of ours stays a module, so that who uses one does not get the others. */
const apart = {
  name: 'apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ kind, path, resolveDir }) => {
      const isModule = kind !== 'entry-point' && existsSync(join(resolveDir, path)); // of what is not there esbuild says so
      return isModule ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined;
    });
  },
};

/**
 * Puts the library into a folder: as ESM, with source maps and declarations, all modules that its
 * entries lead to.
 */
export async function buildLibrary(folder) {
  const declared = `${folder}.declared`;
  const args = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.library.json', '--outDir', declared];
  await promisify(execFile)(process.execPath, args);
  renameSync(`${declared}/src`, folder);
  rmSync(declared, { recursive: true });
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'));
  for (const name of modules) {
    const path = join(folder, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from |import\()['"]\.\.?\/[^'"]*)\.ts(?=['"])/g, '$1.js'));
  }
  await build({
    entryPoints: modules.map((name) => `src/${name.replace(/\.d\.ts$/, '.ts')}`),
    outdir: folder,
    outbase: 'src',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: true,
    plugins: [apart],
    logLevel: 'warning',
  });
}
