// Why: docs/decisions/063-the-library-bundles-its-packages.md
import 'reflect-metadata'; // which @peculiar/x509 wants to find
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build, transform } from 'esbuild';

/** Each module of ours stays a module, so that who uses one does not get the others. */
const apart = {
  name: 'apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ importer, kind, path, resolveDir }) => {
      const isOurs =
        kind !== 'entry-point' &&
        !importer.includes('/node_modules/') &&
        existsSync(join(resolveDir, path)); // of what is not there esbuild says so
      return isOurs ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined;
    });
  },
};

/**
 * A package that is loaded by `import()` has the names that it has in Node. esbuild gives the
 * chunk of a CommonJS package `default` alone: its names are known only when it runs.
 */
const named = {
  name: 'named',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer, resolveDir }) =>
      kind === 'dynamic-import' && !importer.includes('/node_modules/') && !path.startsWith('node:')
        ? { path, namespace: 'named', pluginData: { resolveDir } }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'named' }, async ({ path, pluginData: { resolveDir } }) => ({
      contents: `export { ${Object.keys(await import(path))
        .filter(isIdentifier)
        .join(', ')} } from '${path}';`,
      resolveDir,
    }));
  },
};

/** Node 24 gives CommonJS a name that is a text as well: `module.exports`. */
const isIdentifier = (name) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);

/** What CommonJS has, for the packages that need it: an ES module has no such names. */
const commonJs = `import{createRequire as __makeRequire}from'node:module';const require=__makeRequire(import.meta.url),__dirname=import.meta.dirname;`;
const packages = 'packages';
const needsCommonJs = /\bvar __require = |\b__dirname\b/;

/**
 * Puts the library into a folder: as ESM, with source maps and declarations, all modules that its
 * entries lead to. The packages that they use are in it, but for rxjs, which the user has too.
 */
export async function buildLibrary(folder) {
  const declared = `${folder}.declared`;
  const args = [
    'node_modules/typescript/bin/tsc',
    '--project',
    'tsconfig.library.json',
    '--outDir',
    declared,
  ];
  await promisify(execFile)(process.execPath, args);
  renameSync(`${declared}/src`, folder);
  rmSync(declared, { recursive: true });
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  const reachable = declarationsOf(folder, ['index.d.ts', 'testing/index.d.ts']);
  for (const name of modules) {
    const path = join(folder, name);
    if (reachable.has(path))
      writeFileSync(path, readFileSync(path, 'utf8').replace(relative, '$1.js'));
    else rmSync(path);
  }
  const { metafile } = await build({
    entryPoints: modules.map((name) => `src/${name.replace(/\.d\.ts$/, '.ts')}`),
    outdir: folder,
    outbase: 'src',
    bundle: true,
    splitting: true, // what several modules use of a package is there once
    chunkNames: `${packages}/[hash]`,
    external: ['rxjs'],
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: true,
    plugins: [apart, named],
    metafile: true,
    logLevel: 'warning',
  });
  const isRuntime = ([path, { inputs }]) =>
    path.endsWith('.js') && Object.keys(inputs).length === 0 && path.includes(`/${packages}/`);
  const [[runtime = ''] = []] = Object.entries(metafile.outputs).filter(isRuntime);
  const imported = new RegExp(`^import "[./]+${packages}/${basename(runtime)}";$`, 'm');
  await Promise.all(
    filesIn(folder, '.js').map((path) =>
      finish(path, imported, path.startsWith(`${folder}/${packages}/`)),
    ),
  );
}

/** Makes what is of others small: who debugs the library does not step into it. */
async function finish(path, runtime, isOfOthers) {
  const text = readFileSync(path, 'utf8');
  if (isOfOthers) {
    const { code } = await transform(text, { minify: true, format: 'esm', legalComments: 'none' });
    writeFileSync(path, code);
    rmSync(`${path}.map`);
  } else {
    // esbuild imports its runtime even where it is not used. The line stays, for the source map.
    writeFileSync(path, text.replace(runtime, ''));
    const map = JSON.parse(readFileSync(`${path}.map`, 'utf8'));
    map.sourcesContent = map.sources.map((source, index) =>
      source.includes('node_modules/') ? null : map.sourcesContent[index],
    );
    writeFileSync(`${path}.map`, JSON.stringify(map));
  }
  const now = readFileSync(path, 'utf8');
  if (needsCommonJs.test(text)) writeFileSync(path, `${commonJs}${now}`);
}

const filesIn = (folder, end) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

const relative = /((?:from |import\()['"]\.\.?\/[^'"]*)\.ts(?=['"])/g;

/** The declarations that entries lead to. */
function declarationsOf(folder, entries) {
  const declarations = new Set();
  const follow = (path) => {
    if (declarations.has(path)) return;
    declarations.add(path);
    for (const [, to] of readFileSync(path, 'utf8').matchAll(
      /(?:from |import\()['"](\.\.?\/[^'"]*)\.ts['"]/g,
    ))
      follow(join(path, '..', `${to}.d.ts`));
  };
  for (const entry of entries) follow(join(folder, entry));
  return declarations;
}
