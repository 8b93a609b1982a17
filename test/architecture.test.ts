import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const several = 'several values of one subject, which none of them has in its name';
const telemetry = 'events, counts, metrics and log lines of a folder';
/** The modules whose exports have no word of the module's name, each with its reason. */
const otherwiseNamed: Readonly<Record<string, string>> = {
  'index.ts': 'the public surface',
  'testing/index.ts': 'the public surface for tests',
  'pilot-agent/cli/load.ts': 'what is run first',
  'pilot-agent/cli/main.ts': 'the program',
  'pilot-agent/page/main.tsx': 'the page, in a browser',
  'pilot-discovery/cli/main.ts': 'the program',
  'epochs/model.ts': 'states, events and effects of the agent',
  'epochs/ports.ts': 'what the agent needs of the world',
  'pilot-discovery/istio/documents/model.ts': 'the resources of Istio',
  'pilot-discovery/istio/fields/values.ts': 'the values that several resources of Istio have',
  'pilot-agent/xds-proxy/relay-telemetry.ts': telemetry,
  'pilot-agent/secrets/ca/authority-telemetry.ts': telemetry,
  'pilot-agent/secrets/sds/sds-messages.ts': several,
  'pilot-discovery/push/cluster-order.ts': 'what listeners and clusters that go wait for',
  'epochs/verdict.ts': several,
  'operators/tagged-union.ts': several,
  'proxy/admin-questions.ts': several,
  'proxy/proc.ts': several,
  'proxy/preflight.ts': 'what is checked of a configuration before an epoch is started from it',
  'streams/process-events.ts': several,
  'pilot-agent/config/passed-on.ts': several,
  'pilot-agent/config/schema-texts.ts': several,
  'pilot-agent/page/time-text.ts': several,
  'pilot-agent/page/timeline.ts': several,
  'pilot-agent/page/traffic-rates.ts': several,
  'pilot-agent/run/end/broken-connection.ts': 'the sign of one, from what nobody has caught',
  'pilot-agent/sources/combinators.ts': 'what makes of one source, or two, another one',
  'pilot-agent/sources/pace.ts': several,
  'pilot-agent/status/profile.ts': 'what the inspector gives',
  'pilot-agent/status/scrape/sync-compression.ts': several,
  'pilot-agent/terminal/epoch-words.ts': several,
  'pilot-agent/xds-proxy/asks.ts': 'what is asked of the control plane',
  'pilot-discovery/state/push-status.ts': several,
  'pilot-discovery/environment/delegates.ts': 'VirtualServices with what they delegate',
  'pilot-discovery/generate/listeners/http-connection-manager.ts': 'the filter has this name',
  'pilot-discovery/generate/listeners/listener-filters.ts': several,
  'pilot-discovery/generate/scope/resolution.ts': several,
};

/** The limits of modules and of operators, in lines. */
const longest = 350;
const longestOperator = 70;
/** The limit of comments, in columns. */
const widestComment = 100;

const all = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .sort();
const isGenerated = (name: string) => name.startsWith('shared/proto/');
/** The modules without generated ones, whose names and sizes the generator decides. */
const sources = all.filter((name) => !isGenerated(name));
const text = (file: string) => readFileSync(join('src', file), 'utf8');
const areaOf = (file: string) => file.split('/')[0] ?? '';

const linesOf = (file: string) => text(file).split('\n').length - 1;

/** Returns the first four letters of each word of a name, because a verb has many forms. */
const words = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, 4));

const declared =
  /^export (?:async )?(?:const|function\*?|class|interface|type)\s+(?:[[{]([^\]}]*)[\]}]|(\w+))/gm;
const listed = /^export (?:type )?\{([^}]*)\}/gm;

/** Returns the words of the names that a module exports. */
const exportedWords = (code: string): ReadonlySet<string> =>
  new Set(
    [...code.matchAll(declared), ...code.matchAll(listed)].flatMap(([, names, name]) =>
      words(names ?? name ?? ''),
    ),
  );

/** Whether half of the words of a name are in what a module exports. */
function isNamedAfter(file: string, exported: ReadonlySet<string>): boolean {
  const name = words(basename(file).replace(/\.tsx?$/, ''));
  return name.filter((word) => exported.has(word)).length >= name.length / 2;
}

describe('the checks of the architecture', () => {
  it('have no exception that is not needed any more', () => {
    const needless = Object.keys(otherwiseNamed).filter(
      (file) => !sources.includes(file) || isNamedAfter(file, exportedWords(text(file))),
    );
    expect(needless).toEqual([]);
  });

  it('find a wrong name: few files could have the name of another one', () => {
    const modules = sources.map((file) => ({ file, exported: exportedWords(text(file)) }));
    const fitting = modules.flatMap(({ file }) =>
      modules.filter((other) => other.file !== file && isNamedAfter(file, other.exported)),
    );
    expect(fitting.length / (modules.length * (modules.length - 1))).toBeLessThan(0.04);
  });
});

/**
 * Returns the nodes that import each other, however indirectly: those that lead back to themselves.
 */
function circles(arrows: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const reached = (from: string, reachable = new Set<string>()): ReadonlySet<string> => {
    for (const next of arrows.get(from) ?? [])
      if (!reachable.has(next)) reached(next, reachable.add(next));
    return reachable;
  };
  return [...arrows.keys()].filter((folder) => reached(folder).has(folder));
}

describe('folders', () => {
  it('import each other in one direction, also a folder and one inside it', () => {
    const arrows = new Map<string, Set<string>>();
    for (const file of sources)
      for (const [, to = ''] of text(file).matchAll(/(?:from|import\(?)\s*'(\.[^']+)'/g)) {
        const [folder, other] = [dirname(file), dirname(normalize(join(dirname(file), to)))];
        if (folder !== other) arrows.set(folder, (arrows.get(folder) ?? new Set()).add(other));
      }
    expect(arrows.size).toBeGreaterThan(30);
    expect(circles(arrows)).toEqual([]);
  });
});

describe('npm run lint:architecture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-architecture-'));
  const epochs = 'epochs imports only what its row allows';
  const config = 'pilot-agent/config imports only what its row allows';
  const cases: readonly (readonly [file: string, code: string, rule: string])[] = [
    ['epochs/folder.ts', "import { a } from '../proxy/a.ts';", epochs],
    ['epochs/type.ts', "import type { A } from '../proxy/a.ts';", epochs],
    ['epochs/inline.ts', "type A = import('../proxy/a.ts').A;", epochs],
    ['epochs/later.ts', "const a = async () => import('../proxy/a.ts');", epochs],
    ['epochs/again.ts', "export * from '../proxy/a.ts';", epochs],
    ['epochs/built-in.ts', "import 'node:fs';", epochs],
    ['pilot-agent/config/whole-package.ts', "import 'zod';", config],
    ['pilot-agent/config/not-there.ts', "import 'zod/none';", config],
    ['pilot-agent/config/to-test.ts', "import '../../../test/a.ts';", config],
    ['pilot-agent/config/beside.ts', "import '../cli/a.ts';", config],
    [
      'pilot-agent/cli/to-test.ts',
      "import '../../../test/a.ts';",
      'pilot-agent/cli imports only what its row allows',
    ],
    [
      'pilot-agent/run/other-program.ts',
      "import '../../pilot-discovery/run/a.ts';",
      'pilot-agent/run imports only what its row allows',
    ],
    [
      'pilot-discovery/run/other-program.ts',
      "import '../../pilot-agent/run/a.ts';",
      'pilot-discovery/run imports only what its row allows',
    ],
    [
      'shared/log/up.ts',
      "import '../../proxy/a.ts';",
      'shared/log imports only what its row allows',
    ],
    ['index.ts', "export * from './testing/a.ts';", 'index.ts imports only what its row allows'],
    ['pilot-agent/cli/dev.ts', "import 'vitest';", 'src needs only packages that a row names'],
    [
      'pilot-agent/cli/nested.ts',
      "import 'strip-final-newline';",
      'src needs only packages that a row names',
    ],
    ['elsewhere/a.ts', "import '../epochs/a.ts';", 'each folder has a row in architecture.json'],
    ['proxy/one.ts', "import type { B } from './other.ts'; export type A = B;", 'no cycle'],
  ];
  const right: readonly (readonly [file: string, code: string])[] = [
    ...[
      'epochs',
      'pilot-agent/cli',
      'pilot-agent/run',
      'pilot-discovery/run',
      'proxy',
      'testing',
    ].map((name) => [`${name}/a.ts`, 'export const a = 1; export type A = 1;'] as const),
    ['../test/a.ts', 'export {};'],
    ['proxy/other.ts', "import type { A } from './one.ts'; export type B = A | 1;"],
    ['pilot-agent/config/part.ts', "import 'zod/mini';"],
    ['pilot-agent/config/text.ts', `// import '../cli/a.ts';\nconst a = "import '../cli/a.ts';";`],
    ['proxy/all.ts', "import 'node:fs'; import 'rxjs'; import 'execa'; import '../epochs/a.ts';"],
    ['pilot-agent/cli/all.ts', "import 'node:fs'; import 'commander'; import '../run/a.ts';"],
    ['shared/program/version.ts', "import '../../../package.json';"],
  ];
  let violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[] =
    [];
  const bothWays = ['shared/files/both.ts', 'shared/http/both.ts'];

  beforeAll(() => {
    const circle = [
      ['shared/files/both.ts', "import '../http/a.ts'; export {};"],
      ['shared/files/a.ts', 'export {};'],
      ['shared/http/both.ts', "import '../files/a.ts'; export {};"],
      ['shared/http/a.ts', 'export {};'],
    ] as const;
    for (const [file, code] of [...cases, ...right, ...circle]) {
      mkdirSync(join(folder, 'src', dirname(file)), { recursive: true });
      writeFileSync(join(folder, 'src', file), code);
    }
    copyFileSync('package.json', join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const config = resolve('.dependency-cruiser.mjs');
    const args = ['--config', config, '--output-type', 'json', 'src'];
    const { stdout } = spawnSync(resolve('node_modules/.bin/depcruise'), args, {
      cwd: folder,
      encoding: 'utf8',
    });
    violations = (JSON.parse(stdout) as { summary: { violations: typeof violations } }).summary
      .violations;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(cases)('refuses src/%s: %s', (file, _, rule) => {
    const fileViolations = violations.filter(({ from }) => from === `src/${file}`);
    expect(fileViolations.map(({ rule: { name } }) => name)).toContain(rule);
  });

  it('refuses a circle of folders, though no two files import each other', () => {
    const folderCircles = violations.filter(
      ({ rule: { name } }) => name === 'no circle of folders',
    );
    expect(folderCircles.map(({ from }) => from)).toContain('src/shared/files');
  });

  it('refuses nothing else', () => {
    const wrong = [...cases.map(([file]) => file), ...bothWays, 'proxy/other.ts'];
    const elsewhere = violations.filter(
      ({ from, rule: { name } }) =>
        name !== 'no circle of folders' && !wrong.some((file) => from === `src/${file}`),
    );
    expect(elsewhere).toEqual([]);
  });
});

/** Names that come from Istio and Envoy. */
const terms =
  /service-entry|virtual-service|kubernetes-service|visible-services|service-mode|services|service-endpoints|http-connection-manager/;

describe('names', () => {
  it.each(sources.filter((file) => !(file in otherwiseNamed)))(
    'src/%s is named after what it exports',
    (file) => {
      expect(isNamedAfter(file, exportedWords(text(file)))).toBe(true);
    },
  );

  it.each(sources)('src/%s is in kebab-case, and says what it is about', (file) => {
    expect(basename(file)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/);
    expect(file.replace(terms, '')).not.toMatch(/utils?|helpers?|manager|common|service/);
  });

  it('of types that are exported occur once', () => {
    const names = sources.flatMap((file) =>
      [...text(file).matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('occur once in an area', () => {
    const names = sources.map((file) => `${areaOf(file)}: ${basename(file)}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('comments', () => {
  const folders = ['src', 'test', 'demo', 'bench', 'scripts', 'examples'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      /\.(tsx?|mjs|cjs)$/.test(name) && !(folder === 'src' && isGenerated(name))
        ? [join(folder, name)]
        : [],
    ),
  );

  it.each(files)('%s has none beyond column 100', (file) => {
    // A drawing, with more than one space after the slashes, is as wide as the code below it.
    const comments = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^\s*(\/\/ ?\S|\/?\*)/.test(line));
    expect(comments.filter(({ length }) => length > widestComment)).toEqual([]);
  });
});

describe('sizes', () => {
  it.each(sources)('src/%s is as long as a module may be', (file) => {
    const most = areaOf(file) === 'operators' ? longestOperator : longest;
    expect(linesOf(file)).toBeLessThanOrEqual(most);
  });
});
