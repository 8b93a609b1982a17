import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import architecture from '../architecture.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };
import { commands } from '../scripts/docs/commands.ts';
import { controlPlaneVariables } from '../scripts/docs/control-plane-variables.ts';
import { flagRows, variableRows } from '../scripts/docs/go-agents.ts';
import { families } from '../scripts/docs/metrics.ts';
import { variables } from '../scripts/docs/variables.ts';
import { flags } from '../src/pilot-agent/config/flags.ts';
import { logFlags } from '../src/shared/log/log-flags.ts';
import { discoveryFlags } from '../src/pilot-discovery/run/discovery-flags.ts';
import { logEvents } from '../src/shared/log/log-event.ts';
import { exitCodes } from '../src/shared/program/exit.ts';
import { literals, read, sources } from './support/source-text.ts';

const rooms = Object.keys(architecture.rooms);
/** The folders below which a document may name a file. */
const above = [
  '',
  'src',
  'src/shared',
  'src/pilot-agent',
  'src/pilot-discovery',
  'src/pilot-discovery/registry',
];
const folders = [...new Set(rooms.flatMap((room) => room.split('/')))].filter(
  (name) => !name.includes('.'),
);
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...pages.map((name) => join('docs', name)),
];

/**
 * Returns the cells of the tables below a heading, up to the next heading of any level. Each row is
 * one list, and the head is left out.
 */
function tables(document: string, heading: string): readonly (readonly string[])[] {
  const [, below = ''] = read(document).split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [section = ''] = below.split(/^#+ /m);
  return [...section.matchAll(/^\|.*\|\n\|[ :|-]+\|\n((?:\|.*\|\n)*)/gm)]
    .flatMap(([, rows = '']) => rows.trim().split('\n'))
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** Returns the code of a cell; '' if the cell contains something else. */
const code = (cell = '') => /^`(.*)`$/.exec(cell)?.[1] ?? '';

/**
 * Returns the files of the repository, even if there is no `.git`: all but those that .gitignore
 * names.
 */
function files(folder = '.'): readonly string[] {
  const ignored = ['.git', ...read('.gitignore').trim().split('\n')];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (ignored.includes(entry.name) || ignored.includes(`/${path}`)) return [];
    return entry.isDirectory() ? files(path) : entry.isFile() ? [path] : [];
  });
}

/**
 * Returns the anchors of a page: those of its headings, as a page in a browser has them, and those
 * that it sets itself.
 */
function anchors(text: string): readonly string[] {
  const ofHeadings = [...text.replace(/^```[^]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(
    ([, title = '']) =>
      title
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
  );
  const again = (anchor: string, index: number) =>
    ofHeadings.slice(0, index).filter((other) => other === anchor).length;
  const numbered = ofHeadings.map((anchor, index) =>
    again(anchor, index) === 0 ? anchor : `${anchor}-${again(anchor, index)}`,
  );
  return [...numbered, ...[...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = '']) => id)];
}

/** Returns the code in a text: spans, and the lines of blocks. */
function codes(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```.*\n([^]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  return [
    ...blocks,
    ...[...text.replace(/^```[^]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
      ([, span = '']) => span,
    ),
  ];
}

/** Words of other programs, and words that only look like words of the agent. */
const foreign = {
  flags: ['--drain-strategy', '--skip-hot-restart-on-no-parent', '--stop-timeout', '--name'],
  words: [
    'NODE_OPTIONS',
    'OPTIONAL_MUTUAL',
    'AUTO_PASSTHROUGH',
    'MALLOC_ARENA_MAX',
    'O_NONBLOCK',
    'SO_REUSEPORT',
    'PROJECT_ID',
    'PROJECT_NUMBER',
    'CLUSTER_NAME',
    'CLUSTER_ZONE',
  ],
  components: ['envoy.stderr'],
  exitCodes: [126, 127, 128, 255],
};
const scripts = [
  'demo',
  'bench',
  'test/calls',
  'test/chaos',
  'test/edits',
  'test/move',
  'test/outages',
  'test/spire',
  'test/fuzz',
  'test/mutate',
  'test/soak',
  'test/envoys',
  'test/upgrade',
].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
const texts = [...sources, ...scripts].flatMap(literals);
/** Words of the program, of its scripts, and of the schemas. */
const words = new Set([
  ...texts.flatMap((text) => text.match(/\w+/g) ?? []),
  ...foreign.words,
  ...Object.values(variables).flatMap((group) => group.map(({ name }) => name)),
  ...variableRows().map(({ name }) => name),
  ...controlPlaneVariables,
]);
/** Flags of the agent, of the programs that start it, and of those that it starts. */
const knownFlags = new Set([
  ...Object.keys({ ...flags, ...logFlags, ...discoveryFlags }).map((name) => `--${name}`),
  ...flagRows().map(({ name }) => `--${name}`),
  ...[...commands().values()].flatMap((command) =>
    command.options.flatMap(({ long }) => long ?? []),
  ),
  ...texts.flatMap((text) => text.match(/--[a-z\d-]+/g) ?? []),
  ...scripts.flatMap((file) =>
    [...read(file).matchAll(/(\w+): \{ type: '/g)].map(([, option]) => `--${option}`),
  ),
  ...['--help', '--version', ...foreign.flags],
]);
const knownCodes = [...Object.values(exitCodes), ...foreign.exitCodes];
const areas = new Set(Object.keys(logEvents).map((event) => event.split('.')[0] ?? ''));
const events = [...Object.keys(logEvents), ...foreign.components];
const metrics = families().flatMap(({ name, type }) =>
  type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => name + end) : [name],
);

/**
 * Finds the code in a text that looks like a word of the agent, and that the agent does not have.
 */
const unknownWords: Readonly<Record<string, (text: string) => readonly string[]>> = {
  /**
   * Finds the unknown flags. Other programs have flags too, so a flag of the agent stands alone, or
   * behind the agent's name, or is in camel case.
   */
  flag: (text) =>
    codes(text).flatMap((piece) => {
      const flagPattern = /^--|pilot-agent(?:\.cjs)? /.test(piece)
        ? /(?<![\w-])--\w[\w-]*(?![\w*-])/g
        : /(?<![\w-])--[a-z]+[A-Z]\w*/g;
      return (piece.replace(/ -- .*/, '').match(flagPattern) ?? []).filter(
        (flag) => !knownFlags.has(flag),
      );
    }),
  variable: (text) =>
    codes(text)
      .flatMap((piece) => piece.match(/(?<![\w.<*])[A-Z][A-Z\d]*(?:_[A-Z\d]+)+(?![\w*…<])/g) ?? [])
      .filter((name) => !words.has(name) && !/^ISTIO_META(?:JSON)?_/.test(name)),
  metric: (text) =>
    codes(text)
      .flatMap((piece) => piece.match(/\bistio_agent_[\w*]+/g) ?? [])
      .filter(
        (name) =>
          !name.endsWith('_') &&
          !metrics.some((metric) => new RegExp(`^${name.replaceAll('*', '.*')}$`).test(metric)),
      ),
  'log event': (text) =>
    codes(text).filter(
      (piece) =>
        /^[a-z]+\.[a-z_]+$/.test(piece) &&
        areas.has(piece.split('.')[0] ?? '') &&
        !/\.(?:ts|json|yaml|md)$/.test(piece) &&
        !events.includes(piece),
    ),
  'exit code': (text) =>
    [
      ...text.matchAll(
        /(?:exit codes?|\bends?(?: the agent| it)? with|\bended with|\bexits with)\s+[`[]*(\d+)\b(?! *(?:s|ms|%)\b)/gi,
      ),
    ]
      .map(([, number]) => Number(number))
      .filter((number) => !knownCodes.includes(number))
      .map(String),
};

const everything = 'npm ci && npm test';

describe('README.md', () => {
  it('names the commands that a machine of its own runs', () => {
    expect(read('README.md')).toContain('npm ci && npm start');
    for (const document of ['README.md', 'CONTRIBUTING.md'])
      expect(read(document)).toContain(`\n${everything}\n`);
    expect(read('.ci/run').trim().split('\n').at(-1)).toBe(`${everything} && npm run test:release`);
    expect(statSync('.ci/run').mode & 0o111).toBe(0o111);
  });
});

describe('docs/reference/commands.md', () => {
  it('has each command with its arguments', () => {
    const commands = (...path: readonly string[]): readonly string[] => {
      const page = execFileSync(
        process.execPath,
        ['--import', 'tsx', 'src/pilot-agent/cli/main.ts', ...path, '--help'],
        {
          encoding: 'utf8',
        },
      );
      const [, list = ''] = page.split('Commands:\n');
      return [...list.matchAll(/^ {2}(\w+)(?:\|\w+)?((?: [[<]\w+(?:\.{3})?[\]>])*)/gm)].flatMap(
        ([, name = '', words = '']) => {
          if (name === 'help' && path.length > 0) return [];
          return ['config', 'envoy'].includes(name)
            ? commands(name)
            : [[...path, name].join(' ') + words.replace(' [options]', '')];
        },
      );
    };
    const table = tables('docs/reference/commands.md', 'Commands').map(([command]) =>
      code(command),
    );
    expect([...table].sort()).toEqual([...commands()].sort());
  });
});

describe('ARCHITECTURE.md', () => {
  it('has each folder of src', () => {
    expect(
      tables('ARCHITECTURE.md', 'The folders')
        .map(([folder]) => code(folder))
        .sort(),
    ).toEqual([...rooms].sort());
  });

  it('begins each folder with files that exist', () => {
    const begins = tables('ARCHITECTURE.md', 'The folders').flatMap(([folder, , files = '']) =>
      [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => join('src', code(folder), file)),
    );
    expect(begins.length).toBeGreaterThan(19);
    expect(begins.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('names files of the reducer that exist', () => {
    const named = tables('ARCHITECTURE.md', 'The flow').map(([file]) =>
      join('src/epochs', code(file)),
    );
    expect(named).toHaveLength(7);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  });
});

describe('docs/architecture/imports.md', () => {
  it('has the picture of the folders as they are, and the matrix of imports that is checked', () => {
    expect(
      spawnSync(process.execPath, ['scripts/picture.mjs', '--check'], { encoding: 'utf8' }),
    ).toMatchObject({ stderr: '', status: 0 });
    const rows = tables('docs/architecture/imports.md', 'Imports').map(([folder]) => code(folder));
    expect(rows).toEqual([...Object.keys(architecture.areas), ...rooms]);
  }); // all imports are read again: 6 s of CPU
});

describe.each(documents)('%s', (document) => {
  it('names files that exist', () => {
    const pathPattern = `(?:src|test|demo|bench|examples|scripts)/[\\w./-]+\\.(?:ts|mjs)|(?:${folders.join('|')})/[\\w/-]+\\.ts`;
    const paths = [
      ...read(document).matchAll(new RegExp(`(?<![\\w/-])(?:${pathPattern})\\b`, 'g')),
    ].map(([path]) => path);
    expect(paths.filter((path) => !above.some((folder) => existsSync(join(folder, path))))).toEqual(
      [],
    );
  });

  it('names scripts that exist', () => {
    const scripts = [...read(document).matchAll(/\bnpm run ([\w:]+)/g)].map(
      ([, script]) => script ?? '',
    );
    expect(scripts.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  });

  it('links to files and headings that exist', () => {
    const links = [...read(document).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? document : normalize(join(dirname(document), file));
      return (
        !existsSync(target) || (anchor !== undefined && !anchors(read(target)).includes(anchor))
      );
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(Object.entries(unknownWords))('names no %s that is not in the code', (_, find) => {
    expect(find(read(document))).toEqual([]);
  });
});

describe('the check of words', () => {
  it.each([
    ['flag', 'See `--drainDurations` and `--drainDuration 1s`.', '--drainDurations'],
    ['flag', '```sh\npilot-agent proxy --statusports 1\n```', '--statusports'],
    ['variable', 'Set `CA_ADDR` or `CA_ADDRESS`.', 'CA_ADDRESS'],
    ['metric', '`istio_agent_envoys{stage}` and `istio_agent_envoy{stage}`', 'istio_agent_envoy'],
    ['log event', '`epoch.live`, `epoch.alive`', 'epoch.alive'],
    ['exit code', 'It ends with 69, or ends with `68` after 20 s.', '68'],
  ])('would find a %s in: %s', (kind, text, word) => {
    expect(unknownWords[kind]?.(text)).toEqual([word]);
  });

  it('finds the anchors of headings as a browser does, and those that a page sets', () => {
    expect(
      anchors(
        '# One `two` three (four)\n## [A link](b.md)\n## A link\n<a id="own"></a>\n```sh\n# no\n```\n',
      ),
    ).toEqual(['one-two-three-four', 'a-link', 'a-link-1', 'own']);
  });
});

describe('no file of the repository', () => {
  const texts = files()
    .map((path) => ({ path, text: read(path) }))
    .filter(({ text }) => !text.includes('\0'));
  // The patterns are written so that they do not match themselves.
  const registries =
    /registry\.[\w-]+\.\w|[p]ypi\.org|python[h]osted|"[r]esolved":|[a]rtifactory|[c]odeartifact|[j]frog|\bnexus\.[\w-]+\.\w/i;
  const machines =
    /\/home\/(?!a\b)[\w-]+\/|\/[U]sers\/[\w-]+|[A-Z]:\\\\?Users|(?<![\w./-])\/(?:[r]oot|work|workspace|builds)\/[\w.-]/;

  it('is overlooked', () => {
    expect(texts.map(({ path }) => path)).toEqual(
      expect.arrayContaining([...documents, '.ci/run', 'LICENSE', 'package-lock.json', '.npmrc']),
    );
  });

  it('names the host of a package registry', () => {
    expect(texts.filter(({ text }) => registries.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('names a path of the machine of somebody', () => {
    expect(texts.filter(({ text }) => machines.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ['registry' + '.example.org', registries],
    ['files.python' + 'hosted.org', registries],
    ['"/ho' + 'me/someone/project"', machines],
    ['/Us' + 'ers/someone/project', machines],
  ])('would hide %s', (text, expression) => {
    expect(text).toMatch(expression);
  });
});
