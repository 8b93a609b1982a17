import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { advice } from './advice.mjs';

const options = {
  bundle: true,
  minify: true,
  write: false,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

/**
 * Resolves to the page of the status port as one HTML text without further files, and the packages
 * in it.
 */
export async function buildPage() {
  const [script, style] = await Promise.all([
    build({
      ...options,
      entryPoints: ['src/pilot-agent/page/main.tsx'],
      format: 'iife',
      target: 'es2022',
      conditions: ['es2015'], // otherwise esbuild takes the ES5 modules of rxjs
      jsx: 'automatic',
      jsxImportSource: 'preact',
      tsconfigRaw: {},
    }),
    build({ ...options, entryPoints: ['src/pilot-agent/page/style.css'], target: 'chrome123' }),
  ]);
  const [scriptText, styleText] = [script, style].map(({ outputFiles: [file] }) =>
    file.text.trim(),
  );
  const html = readFileSync('src/pilot-agent/page/page.html', 'utf8')
    .replace('<!-- style -->', () => `<style>${styleText}</style>`)
    .replace('<!-- advice -->', () => JSON.stringify(advice()).replaceAll('<', '\\u003c'))
    .replace(
      '<!-- script -->',
      () => `<script>${scriptText.replaceAll('</script', '<\\/script')}</script>`,
    );
  return { html, metafile: script.metafile };
}
