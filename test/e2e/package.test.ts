import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { type InstalledPackage, installPackage } from '../support/e2e/installed-package.ts';

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
}

let installed: InstalledPackage;
beforeAll(() => {
  installed = installPackage(['rxjs', '@types/node']);
});
afterAll(() => installed.dispose());

/** Returns the errors that a strict compiler reports about these files. */
function compiled(module: 'node16' | 'nodenext', files: readonly string[]): string {
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--target',
    'es2023',
    '--types',
    'node',
  ];
  const args = [
    resolve('node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--module',
    module,
    ...strict,
    ...files,
  ];
  return spawnSync(process.execPath, args, { cwd: installed.folder, encoding: 'utf8' }).stdout;
}

describe('the package, installed elsewhere', () => {
  it('brings nothing else along: who wants the program alone has no other package', () => {
    expect(installed.others).toEqual([]);
    expect(packageJson).not.toHaveProperty('dependencies');
  });

  it('has the licence of each package that is in it', () => {
    const notices = readFileSync(join(installed.root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const maps = readdirSync('dist/lib', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js.map'),
    );
    const sources = maps.flatMap(
      (name) => (JSON.parse(readFileSync(join('dist/lib', name), 'utf8')) as SourceMap).sources,
    );
    const names = new Set(
      sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
    );
    expect([...names]).toContain('pino');
    expect(
      [...names].filter(
        (name) => existsSync(join('node_modules', name)) && !notices.includes(`\n${name} `),
      ),
    ).toEqual([]);
    expect(readFileSync(join(installed.root, 'LICENSE'), 'utf8')).toBe(
      readFileSync('LICENSE', 'utf8'),
    );
  });

  it('has no link in its pages that leads nowhere', () => {
    const all = readdirSync(installed.root, { recursive: true, encoding: 'utf8' });
    const linked = all
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) => {
        const text = readFileSync(join(installed.root, page), 'utf8');
        return [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(
          ([, to = '']) => [page, to] as const,
        );
      });
    const dead = linked.filter(
      ([page, to]) => !/^[a-z]+:/.test(to) && !existsSync(join(installed.root, page, '..', to)),
    );
    expect(dead).toEqual([]);
  });

  it('runs as a program', () => {
    const program = join(installed.root, packageJson.bin['pilot-agent']);
    expect(
      execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }).trim(),
    ).toBe(packageJson.version);
  });

  it.each([
    ['pilot-agent', ['agent', 'source', 'compose']],
    ['pilot-agent/testing', ['drawAgent', 'fakeProxy', 'marbles']],
  ])('%s is imported without a warning', (name, names) => {
    const code = `import * as all from '${name}'; console.log(JSON.stringify(Object.keys(all)))`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: installed.folder,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(names));
  });

  it('has the rxjs of who uses it', () => {
    const code = `import { Observable } from 'rxjs'; import { pilotAgent } from 'pilot-agent';
      console.log(pilotAgent({ config: {}, env: {} }).state$ instanceof Observable)`;
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', code], {
        cwd: installed.folder,
        encoding: 'utf8',
      }),
    ).toBe('true\n');
  });

  it('has, of each package that it loads by import(), the names that Node gives it', () => {
    const lib = join(installed.root, 'dist/lib');
    const modules = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    const imported = (path: string) =>
      [...readFileSync(path, 'utf8').matchAll(/\bimport\(['"]([^'"]+)['"]\)/g)].map(
        ([, to = '']) => to,
      );
    const loaded = modules.flatMap((name) => {
      if (name.startsWith('packages/')) return [];
      const isOurs = (to: string) => to.startsWith('.') && !to.includes('/packages/');
      const packages = imported(`src/${name.replace(/js$/, 'ts')}`).filter((to) => !isOurs(to));
      const chunks = imported(join(lib, name)).filter((to) => !isOurs(to));
      expect(chunks).toHaveLength(packages.length);
      return packages.map((packageName, place) => ({
        packageName,
        chunk: join(lib, name, '..', chunks[place] ?? ''),
      }));
    });
    expect(loaded.map(({ packageName }) => packageName)).toEqual(
      expect.arrayContaining(['yaml', '@grpc/grpc-js', '@peculiar/x509', 'chokidar']),
    );
    const script = `const all = ${JSON.stringify(loaded)}; import 'reflect-metadata';
      for (const { packageName, chunk } of all) {
        const [names, given] = (await Promise.all([import(packageName), import(chunk)])).map(Object.keys);
        const lacking = names.filter((name) => name !== 'module.exports' && !given.includes(name));
        if (lacking.length > 0) console.log(packageName, lacking.join());
      }`;
    const args = ['--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: resolve('.'),
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
  });

  it('has declarations in which a strict compiler finds nothing wrong', () => {
    writeFileSync(
      join(installed.folder, 'use.mts'),
      `import { type AgentSettings, source, type ContributingSource } from 'pilot-agent';
       import { drawAgent } from 'pilot-agent/testing';
       export const mine: ContributingSource = source('mine', () => Promise.resolve({ a: 1 }), { every: 10_000 });
       drawAgent({ config: 'a' }).expectEpochs('a');
       // @ts-expect-error a reading is a text, bytes or an object
       source('mine', () => Promise.resolve(1));
       export const settings: AgentSettings = { minDelay: '1m30s', statusPort: 15020, rotation: 'sds', keepEnvoy: true };
       // @ts-expect-error a duration has a unit
       export const a: AgentSettings = { minDelay: 10 };
       // @ts-expect-error a duration has a known unit
       export const b: AgentSettings = { minDelay: '10 parsecs' };
       // @ts-expect-error a port is a number
       export const c: AgentSettings = { statusPort: true };
       // @ts-expect-error there is no such way
       export const d: AgentSettings = { rotation: 'push' };`,
    );
    writeFileSync(
      join(installed.folder, 'use.cts'),
      `import { source } from 'pilot-agent';\nexport const mine = source('mine', () => ['a']);`,
    );
    const shown = [
      ...readFileSync('docs/library.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
    ].map(([, block = ''], index) => {
      writeFileSync(join(installed.folder, `shown-${index}.mts`), block);
      return `shown-${index}.mts`;
    });
    expect(compiled('nodenext', ['use.mts', 'use.cts', ...shown])).toBe('');
  });

  it('is for node16, too: from an ES module, and by import() from a CommonJS one', () => {
    writeFileSync(
      join(installed.folder, 'module.mts'),
      `import { source } from 'pilot-agent';\nexport const mine = source('mine', () => ['a']);`,
    );
    writeFileSync(
      join(installed.folder, 'later.cts'),
      `export const mine = import('pilot-agent').then(({ source }) => source('mine', () => ['a']));`,
    );
    expect(compiled('node16', ['--skipLibCheck', 'module.mts', 'later.cts'])).toBe('');
  });

  it('has the source of each of its modules in a source map', () => {
    const lib = join(installed.root, 'dist/lib');
    const modules = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    expect(modules).toContain(join('pilot-agent', 'sources', 'source.js'));
    const mapOf = (name: string) =>
      JSON.parse(readFileSync(join(lib, `${name}.map`), 'utf8')) as SourceMap;
    const lacksOne = ({ sources, sourcesContent }: SourceMap) =>
      sources.some(
        (source, index) =>
          !source.includes('node_modules/') && (sourcesContent?.[index] ?? '') === '',
      );
    const ours = modules.filter((name) => !name.startsWith('packages/'));
    expect(
      ours.filter((name) => !existsSync(join(lib, `${name}.map`)) || lacksOne(mapOf(name))),
    ).toEqual([]);
    expect(modules.filter((name) => name.startsWith(join('pilot-agent', 'cli')))).toEqual([]);
  });

  it('gives to who bundles `source` alone nothing of agent, log and servers', async () => {
    const { metafile, outputFiles } = await build({
      stdin: {
        contents: "import { source } from 'pilot-agent'; console.log(source)",
        resolveDir: installed.folder,
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['es2015'],
      write: false,
      metafile: true,
      logLevel: 'error',
    });
    const inputs = Object.values(metafile.outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([file, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [file] : [],
      ),
    );
    const packages = inputs.flatMap(
      (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual(['pilot-agent', 'rxjs']);
    expect(outputFiles[0]?.text).not.toMatch(/\b(?:chokidar|grpc|pino|zod)\b/i);
    expect(inputs.filter((file) => /\/(agent|run|xds|sds|proxy)\//.test(file))).toEqual([]);
  });

  it('is in order for publint', async () => {
    const { messages } = await publint({
      pack: { tarball: new Uint8Array(installed.tarball).buffer },
      level: 'suggestion',
      strict: true,
    });
    expect(messages).toEqual([]);
  });

  it('has types that are right for ESM, and for bundlers', async () => {
    const checked = await checkPackage(
      createPackageFromTarballData(new Uint8Array(installed.tarball)),
    );
    const problems = checked.types === false ? ['no types'] : checked.problems;
    // The package is ESM only: resolution without `exports`, or as CommonJS, does not find it.
    const meant = problems.filter((problem) => {
      if (typeof problem === 'string') return true;
      return !(
        'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)
      );
    });
    expect(meant).toEqual([]);
  });
});
