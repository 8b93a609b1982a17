import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * Modules that do not speak of what they are named after: the name is a term of the design, or not
 * ours to choose.
 */
const otherwiseNamed: Readonly<Record<string, string>> = {
  'index.ts': 'the public surface',
  'testing/index.ts': 'the public surface for tests',
  'agent/model.ts': 'states, events and effects of the agent',
  'cli/main.ts': 'the program',
  'discovery-cli/main.ts': 'the program',
  'mesh/model.ts': 'the resources of Istio',
  'page/main.tsx': 'the page, in a browser',
  'sources/combinators.ts': 'what makes of one source, or two, another one',
  'proxy/preflight.ts': 'what is checked of a configuration before an epoch is started from it',
  'ca/telemetry.ts': 'events, counts, metrics and log lines of the folder',
  'sds/telemetry.ts': 'events, counts, metrics and log lines of the folder',
  'xds/telemetry.ts': 'how it stands, and log lines of the folder',
  'secrets/telemetry.ts': 'metrics and log lines of the folder',
  'sts/telemetry.ts': 'counts and metrics of the folder',
};

/** In lines. */
const longest = 250;
/** Modules of more lines, each with its reason. */
const long: Readonly<Record<string, string>> = {};
const longestOperator = 60;
const shortest = 15;
/** In columns. */
const widestComment = 100;
/** Modules of fewer lines, each with its reason. */
const short: Readonly<Record<string, string>> = {
  'operators/coalesce.ts': 'an operator',
  'report/reason-name.ts': 'the status port and the page name reasons so',
  'operators/settle.ts': 'an operator',
  'operators/tagged-union.ts': 'operators and all else need it',
  'log/log-line.ts': 'all folders need it, and nothing else of the log',
  'log/span.ts': 'one function that all folders need',
  'run/version.ts': 'what is built for others has it as well',
  'testing/reading.ts': 'tests of all folders need it',
  'testing/index.ts': 'it only re-exports',
  'generate/fractional-percent.ts': 'routes and filters say percentages so',
  'generate/proto-duration.ts': 'all that Envoy is told of time needs it',
  'generate/resolution.ts': 'clusters and endpoints decide by it',
  'mesh/socket-path.ts': 'endpoints and sidecars are checked by it',
  'mesh/wildcard-host.ts': 'all that matches hosts needs it',
  'generate/service-mode.ts': 'one rule of Istio, told by itself',
};

const all = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .sort();
/** Without what is generated, whose names and sizes are its generator's. */
const sources = all.filter((name) => !name.startsWith(`proto${sep}`));
const text = (file: string) => readFileSync(join('src', file), 'utf8');
const folderOf = (file: string) => (file.includes(sep) ? (file.split(sep)[0] ?? '') : '.');

const linesOf = (file: string) => text(file).split('\n').length - 1;

/**
 * Whether what is said in a file, imports apart, has a word of its name: by the beginning of the
 * word, for a verb has many forms.
 */
function isNamedAfter(file: string): boolean {
  const words = basename(file).replace(/\.tsx?$/, '').split('-').map((word) => word.slice(0, 4)); // prettier-ignore
  const said = text(file)
    .replace(/^import[^;]*;$/gm, '')
    .toLowerCase();
  return words.some((word) => said.includes(word));
}

describe('the checks of the architecture', () => {
  it('have no exception that is not needed any more', () => {
    expect(Object.keys(short).filter((file) => !sources.includes(file) || linesOf(file) >= shortest)).toEqual([]);
    expect(Object.keys(otherwiseNamed).filter((file) => !sources.includes(file) || isNamedAfter(file))).toEqual([]);
  });
});

describe('npm run lint:architecture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-architecture-'));
  const cases: readonly (readonly [file: string, code: string, rule: string])[] = [
    ['agent/folder.ts', "import { a } from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/type.ts', "import type { A } from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/inline.ts', "type A = import('../proxy/a.ts').A;", 'agent imports only what its row allows'],
    ['agent/later.ts', "const a = async () => import('../proxy/a.ts');", 'agent imports only what its row allows'],
    ['agent/again.ts', "export * from '../proxy/a.ts';", 'agent imports only what its row allows'],
    ['agent/built-in.ts', "import 'node:fs';", 'agent imports only what its row allows'],
    ['config/whole-package.ts', "import 'zod';", 'config imports only what its row allows'],
    ['config/not-there.ts', "import 'zod/none';", 'config imports only what its row allows'],
    ['config/to-test.ts', "import '../../test/a.ts';", 'config imports only what its row allows'],
    ['cli/to-test.ts', "import '../../test/a.ts';", 'cli imports only what its row allows'],
    ['log/root.ts', "import '../cli/a.ts';", 'log imports only what its row allows'],
    ['index.ts', "export * from './cli/a.ts';", 'index.ts imports only what its row allows'],
    ['cli/dev.ts', "import 'vitest';", 'src needs only packages that a row names, and commander'],
    ['cli/nested.ts', "import 'strip-final-newline';", 'src needs only packages that a row names, and commander'],
    ['elsewhere/a.ts', "import '../agent/a.ts';", 'each folder has a row in architecture.json'],
    ['admin/one.ts', "import type { B } from './other.ts'; export type A = B;", 'no cycle'],
  ];
  const right: readonly (readonly [file: string, code: string])[] = [
    ...['agent', 'cli', 'proxy'].map((name) => [`${name}/a.ts`, 'export const a = 1; export type A = 1;'] as const),
    ['../test/a.ts', 'export {};'],
    ['admin/other.ts', "import type { A } from './one.ts'; export type B = A | 1;"],
    ['config/part.ts', "import 'zod/mini';"],
    ['config/text.ts', `// import '../cli/a.ts';\nconst a = "import '../cli/a.ts';";`],
    ['proxy/all.ts', "import 'node:fs'; import 'rxjs'; import 'execa'; import '../agent/a.ts'; import './a.ts';"],
    ['cli/all.ts', "import 'node:fs'; import 'rxjs'; import '../proxy/a.ts'; import './a.ts';"],
    ['run/all.ts', "import 'rxjs'; import '../proxy/a.ts'; import '../../package.json';"],
  ];
  let violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[] = [];

  beforeAll(() => {
    for (const [file, code] of [...cases, ...right]) {
      mkdirSync(join(folder, 'src', dirname(file)), { recursive: true });
      writeFileSync(join(folder, 'src', file), code);
    }
    copyFileSync('package.json', join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const args = ['--config', resolve('.dependency-cruiser.mjs'), '--output-type', 'json', 'src'];
    const { stdout } = spawnSync(resolve('node_modules/.bin/depcruise'), args, { cwd: folder, encoding: 'utf8' });
    violations = (JSON.parse(stdout) as { summary: { violations: typeof violations } }).summary.violations;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(cases)('refuses src/%s: %s', (file, _, rule) => {
    expect(violations.filter(({ from }) => from === `src/${file}`).map(({ rule: { name } }) => name)).toContain(rule);
  });

  it('refuses nothing else', () => {
    const wrong = [...cases.map(([file]) => `src/${file}`), 'src/admin/other.ts'];
    expect(violations.filter(({ from }) => !wrong.includes(from))).toEqual([]);
  });
});

/** Names that Istio and Envoy have given. */
const terms = /service-entry|virtual-service|visible-services|service-mode|services|http-connection-manager/;

describe('names', () => {
  it.each(sources.filter((file) => !(file in otherwiseNamed)))('src/%s is named after its subject', (file) => {
    expect(isNamedAfter(file)).toBe(true);
  });

  it.each(sources)('src/%s is in kebab-case, and says what it is about', (file) => {
    expect(basename(file)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/);
    expect(file.replace(terms, '')).not.toMatch(/utils?|helpers?|manager|common|service/);
  });
});

describe('comments', () => {
  const folders = ['src', 'test', 'demo', 'bench', 'scripts', 'examples'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      /\.(tsx?|mjs|cjs)$/.test(name) ? [join(folder, name)] : [],
    ),
  );

  it.each(files.filter((file) => !file.startsWith(join('src', 'proto'))))('%s has none beyond column 100', (file) => {
    // What is drawn, with more than one space after the slashes, is as wide as what it stands
    // above.
    const comments = readFileSync(file, 'utf8').split('\n').filter((line) => /^\s*(\/\/ ?\S|\/?\*)/.test(line)); // prettier-ignore
    expect(comments.filter(({ length }) => length > widestComment)).toEqual([]);
  });
});

describe('sizes', () => {
  it.each(sources)('src/%s is as long as a module should be', (file) => {
    if (!(file in long)) expect(linesOf(file)).toBeLessThanOrEqual(folderOf(file) === 'operators' ? longestOperator : longest);
    if (!(file in short)) expect(linesOf(file)).toBeGreaterThanOrEqual(shortest);
  });
});
