import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const { exports } = JSON.parse(readFileSync('node_modules/rxjs/package.json', 'utf8'));
/** For Node rxjs offers only modules that can not be shaken: each of its entries by the others. */
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
  // As paths: an alias for `rxjs` would hold for what is below it too.
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
  supported: { 'dynamic-import': false }, // as require: the launcher has no import() to give
  logLevel: 'warning',
  metafile: true,
};
