// Why: docs/decisions/063-the-library-bundles-its-packages.md
import 'reflect-metadata'; // @peculiar/x509 needs it
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build, transform } from 'esbuild';

/** Each of our modules stays a module, so that a user of one does not load the others. */
const apart = {
  name: 'apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ importer, kind, path, resolveDir }) => {
      const isOurs =
        kind !== 'entry-point' &&
        !importer.includes('/node_modules/') &&
        existsSync(join(resolveDir, path)); // esbuild reports a file that is missing
      return isOurs ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined;
    });
  },
};

/**
 * A package that is loaded by `import()` exports the same names as in Node. Otherwise esbuild
 * exports only `default` from the chunk of a CommonJS package, whose names are known only at run
 * time.
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

/**
 * In Node 24 a CommonJS package also has an export with the name `module.exports`, which is not an
 * identifier.
 */
const isIdentifier = (name) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);

/**
 * Defines the names of CommonJS for the packages that need them, because an ES module does not have
 * them.
 */
const commonJs = `import{createRequire as __makeRequire}from'node:module';const require=__makeRequire(import.meta.url),__dirname=import.meta.dirname;`;
const packages = 'packages';
const needsCommonJs = /\bvar __require = |\b__dirname\b/;

/**
 * Writes the library into a folder: all modules that its entries import, as ESM, with source maps
 * and declarations. It includes the packages that they use, except rxjs, which the user installs.
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
    splitting: true, // code of a package that several modules use exists once
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

/** Minifies the code of packages, since nobody who debugs the library steps into it. */
async function finish(path, runtime, isOfOthers) {
  const text = readFileSync(path, 'utf8');
  if (isOfOthers) {
    const { code } = await transform(text, { minify: true, format: 'esm', legalComments: 'none' });
    writeFileSync(path, code);
    rmSync(`${path}.map`);
  } else {
    // esbuild imports its runtime even in modules that do not use it. An empty line stays, for the
    // source map.
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

/** The declaration files that entries import, directly or not. */
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
