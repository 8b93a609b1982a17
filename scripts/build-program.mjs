// Why: docs/decisions/061-a-launcher-checks-the-code-cache.md
import { execFile } from 'node:child_process';
import { accessSync, chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ascii } from './ascii.mjs';
import { buildPage } from './build-page.mjs';
import { bundleOptions } from './bundle-options.mjs';
import { notices, packagesIn } from './notices.mjs';

/**
 * Packages that most runs do not load. Each group is a file beside the bundle, so that most runs do
 * not read it and its code is not in their code cache. A package comes after those that it needs.
 */
const apart = { grpc: ['@grpc/grpc-js'], x509: ['reflect-metadata', '@peculiar/x509'] };
const setApart = {
  name: 'set-apart',
  setup: ({ onResolve }) => {
    for (const [file, packages] of Object.entries(apart)) {
      onResolve({ filter: new RegExp(`^(?:${packages.join('|')})$`) }, () => ({
        path: `./${file}.cjs`,
        external: true,
      }));
    }
  },
};

/** The files that the launcher runs, each with its own code cache. */
export const parts = ['main.cjs', ...Object.keys(apart).map((file) => `${file}.cjs`)];

/**
 * Makes each file a function that the launcher calls. If the launcher wrapped the text, it would be
 * in memory twice.
 */
const asFunction = {
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
};

/**
 * Writes the program into a folder: launcher, bundle, page, code caches, and licences. `options`
 * are further options of esbuild. Resolves to the folders of the packages in the program.
 */
export async function buildProgram(folder, options = {}) {
  const { plugins } = bundleOptions;
  const inputs = [
    ...Object.entries(apart).map(([file, packages]) => ({
      ...asFunction,
      stdin: {
        contents: packages.map((name) => `export * from '${name}'`).join(';'),
        resolveDir: '.',
      },
      outfile: `${folder}/${file}.cjs`,
    })),
    {
      ...asFunction,
      plugins: [...plugins, setApart],
      entryPoints: ['src/pilot-agent/cli/main.ts'],
      outfile: `${folder}/main.cjs`,
    },
    {
      entryPoints: ['src/pilot-agent/cli/load.ts'],
      outfile: `${folder}/pilot-agent.cjs`,
      banner: { js: '#!/usr/bin/env node' },
    },
    {
      entryPoints: ['src/pilot-discovery/cli/main.ts'],
      outfile: `${folder}/pilot-discovery.cjs`,
      banner: { js: '#!/usr/bin/env node' },
    },
  ];
  const built = await Promise.all(
    inputs.map((input) => build({ ...bundleOptions, ...options, ...input })),
  );
  for (const path of parts.map((part) => `${folder}/${part}`))
    writeFileSync(path, ascii(readFileSync(path, 'utf8')));
  const page = await buildPage();
  const metafiles = [...built, page].map(({ metafile }) => metafile);
  writeFileSync(`${folder}/page.html`, page.html);
  writeFileSync(`${folder}/THIRD-PARTY-NOTICES.txt`, notices(metafiles));
  for (const program of ['pilot-agent', 'pilot-discovery'])
    chmodSync(`${folder}/${program}.cjs`, 0o755);
  await writeCodeCache([process.execPath], `${folder}/pilot-agent.cjs`);
  return packagesIn(metafiles);
}

/**
 * Writes the code cache in a complete run of the agent, with a proxy that ends at once without an
 * error. The first argument is the command, with flags, of the Node that will use the cache.
 */
export async function writeCodeCache([node, ...flags], program) {
  const caches = parts.map((part) => join(dirname(program), `${part}.cache`));
  for (const cache of caches) rmSync(cache, { force: true });
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-build-'));
  const config = join(folder, 'envoy.json');
  writeFileSync(config, '{}');
  const proxy = [
    'proxy',
    '--binaryPath',
    '/bin/true',
    '--customConfigFile',
    config,
    '--configPath',
    folder,
    '--statusPort',
    '0',
  ];
  const env = { ...process.env, PILOT_AGENT_CODE_CACHE: 'write' };
  try {
    await promisify(execFile)(node, [...flags, program, ...proxy], { env });
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const cache of caches) accessSync(cache);
}
