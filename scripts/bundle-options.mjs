import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const { exports } = JSON.parse(readFileSync('node_modules/rxjs/package.json', 'utf8'));
/**
 * The modules that rxjs exports for Node cannot be tree-shaken. So each entry of rxjs leads to its
 * ES2015 module.
 */
const rxjs = Object.entries(exports).flatMap(([entry, { es2015 }]) =>
  es2015 === undefined ? [] : [[`rxjs${entry.slice(1)}`, resolve('node_modules/rxjs', es2015)]],
);

/** How the program is bundled. */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  minify: true,
  // This is a plugin, because an alias for `rxjs` would also apply to its subpaths.
  plugins: [
    {
      name: 'rxjs',
      setup: ({ onResolve }) => {
        for (const [name, path] of rxjs)
          onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path, sideEffects: false }));
      },
    },
  ],
  define: { 'import.meta.dirname': '__dirname' },
  // Becomes require, because the launcher provides no import().
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
  metafile: true,
};
