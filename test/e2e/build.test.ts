import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('npm run build', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-agent-broken-'));
    for (const name of [
      'node_modules',
      'scripts',
      'package.json',
      'tsconfig.json',
      'tsconfig.library.json',
      'LICENSE',
    ])
      symlinkSync(resolve(name), join(folder, name));
    cpSync('src', join(folder, 'src'), { recursive: true });
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/pilot-agent.cjs'), 'the one before');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['the program does not bundle', 'src/pilot-agent/cli/main.ts', "import './no-such-file.ts';"],
    ['the program does not run', 'src/pilot-agent/cli/main.ts', "throw new Error('at the start');"],
    [
      'the library does not compile',
      'src/testing/index.ts',
      "export { none } from './no-such-file.ts';",
    ],
  ])('leaves what was built before if %s', (_, file, broken) => {
    const path = join(folder, file);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, `${broken}\n${whole}`);
    const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: folder });
    writeFileSync(path, whole);
    expect(status).not.toBe(0);
    expect(readFileSync(join(folder, 'dist/pilot-agent.cjs'), 'utf8')).toBe('the one before');
    expect(readdirSync(folder).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  it.each(['rxjs', 'rxjs/fetch', 'rxjs/operators', 'rxjs/testing'])(
    'bundles what imports %s',
    async (name) => {
      const { bundleOptions } = (await import(resolve('scripts/bundle-options.mjs'))) as {
        bundleOptions: BuildOptions;
      };
      const { outputFiles } = await build({
        ...bundleOptions,
        stdin: { contents: `import * as all from '${name}'; console.log(all)`, resolveDir: '.' },
        write: false,
      });
      expect(outputFiles).toHaveLength(1);
    },
  );
});
