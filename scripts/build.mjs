import { build } from 'esbuild';

const node = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  // rxjs offers its ES modules, which can be shaken, under this condition only.
  conditions: ['es2015', 'import', 'module'],
};

await build({
  ...node,
  entryPoints: ['src/cli/main.ts'],
  outfile: 'dist/pilot-agent.cjs',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  banner: { js: '#!/usr/bin/env node' },
});
