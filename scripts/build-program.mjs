import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.mjs';
import { notices } from './notices.mjs';

/**
 * Packages that most runs do not load: each is a file of its own beside the bundle, so that it is
 * not read, and no part of the code cache.
 */
const apart = { '@grpc/grpc-js': 'grpc', '@peculiar/x509': 'x509' };
const setApart = {
  name: 'set-apart',
  setup: ({ onResolve }) => {
    for (const [name, file] of Object.entries(apart)) {
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: `./${file}.cjs`, external: true }));
    }
  },
};

/** Puts the program into a folder: launcher, bundle, code cache, licences of what is in it. */
export async function buildProgram(folder) {
  const { plugins } = bundleOptions;
  const inputs = [
    ...Object.entries(apart).map(([name, file]) => ({
      stdin: { contents: `export * from '${name}'`, resolveDir: '.' },
      outfile: `${folder}/${file}.cjs`,
    })),
    {
      plugins: [...plugins, setApart],
      entryPoints: ['src/cli/main.ts'],
      outfile: `${folder}/main.cjs`,
      // As a function, for the launcher to call: wrapped there, its text would be in memory twice.
      banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
      footer: { js: '})' },
    },
    { entryPoints: ['src/cli/load.ts'], outfile: `${folder}/pilot-agent.cjs`, banner: { js: '#!/usr/bin/env node' } },
  ];
  const built = await Promise.all(inputs.map((input) => build({ ...bundleOptions, ...input })));
  writeFileSync(`${folder}/THIRD-PARTY-NOTICES.txt`, notices(built.map(({ metafile }) => metafile)));
  chmodSync(`${folder}/pilot-agent.cjs`, 0o755);
  await writeCodeCache(`${folder}/pilot-agent.cjs`);
}

/** From a whole life of the agent: over a proxy that ends at once, and cleanly. */
async function writeCodeCache(program) {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-build-'));
  const config = join(folder, 'envoy.json');
  writeFileSync(config, '{}');
  const proxy = ['proxy', '--binaryPath', '/bin/true', '--customConfigFile', config, '--configPath', folder, '--statusPort', '0'];
  const env = { ...process.env, PILOT_AGENT_CODE_CACHE: 'write' };
  try {
    await promisify(execFile)(process.execPath, [program, ...proxy], { env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
