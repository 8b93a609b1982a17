import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { notices } from './notices.mjs';

const options = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  minify: true,
  // For Node rxjs offers only modules that can not be shaken.
  alias: { rxjs: resolve('node_modules/rxjs/dist/esm/index.js') },
  supported: { 'dynamic-import': false }, // as require: the launcher has no import() to give
  logLevel: 'warning',
  metafile: true,
};

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

rmSync('dist', { recursive: true, force: true });
const built = [];
for (const [name, file] of Object.entries(apart)) {
  built.push(await build({ ...options, stdin: { contents: `export * from '${name}'`, resolveDir: '.' }, outfile: `dist/${file}.cjs` }));
}
built.push(
  await build({
    ...options,
    plugins: [setApart],
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/main.cjs',
    // As a function, for the launcher to call: wrapped there, its text would be in memory twice.
    banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
    footer: { js: '})' },
  }),
  await build({ ...options, entryPoints: ['src/cli/load.ts'], outfile: 'dist/pilot-agent.cjs', banner: { js: '#!/usr/bin/env node' } }),
);
writeFileSync('dist/THIRD-PARTY-NOTICES.txt', notices(built.map(({ metafile }) => metafile)));
chmodSync('dist/pilot-agent.cjs', 0o755);

// The code cache, from a whole life of the agent: over a proxy that ends at once, and cleanly.
const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-build-'));
const config = join(folder, 'envoy.json');
writeFileSync(config, '{}');
const proxy = ['proxy', '--binaryPath', '/bin/true', '--customConfigFile', config, '--configPath', folder, '--statusPort', '0'];
const env = { ...process.env, PILOT_AGENT_CODE_CACHE: 'write' };
execFileSync(process.execPath, ['dist/pilot-agent.cjs', ...proxy], { env, stdio: ['ignore', 'ignore', 'inherit'] });
rmSync(folder, { recursive: true });
