import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import architecture from '../architecture.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };
import { exitCodes } from '../src/run/exit.ts';
import { environment } from '../src/config/environment.ts';
import { type Flag, flags, logFlags } from '../src/config/flags.ts';
import { resolveConfig, type ResolvedConfig } from '../src/config/resolve-config.ts';
import { logEvents } from '../src/log/log-event.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));
const folders = readdirSync('src').filter((name) => statSync(join('src', name)).isDirectory());
const pages = readdirSync('docs/architecture').map((name) => join('docs/architecture', name));
const documents = ['README.md', 'ARCHITECTURE.md', 'RATIONALE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...pages];

/** The cells of the tables below a heading, a row each, without the head; up to the next heading of any level. */
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

function resolved(env: NodeJS.ProcessEnv): ResolvedConfig {
  const layers = { mesh: undefined, proxyConfig: undefined, annotation: undefined, annotations: {}, warnings: [] };
  return resolveConfig({ given: {}, leftover: [], surroundings: environment(env), addresses: [], layers });
}

/** What is code in a cell, and nothing if it is something else. */
const code = (cell = '') => /^`(.*)`$/.exec(cell)?.[1] ?? '';

function literals(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest));
  return found;
}

/** Files that are part of the repository, whether or not it is one: all but what .gitignore names. */
function files(folder = '.'): readonly string[] {
  const ignored = ['.git', ...read('.gitignore').trim().split('\n')];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.includes(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : entry.isFile() ? [path] : [];
  });
}

describe('README.md', () => {
  it('has each flag with its value and its default, in the order of src/config/flags.ts', () => {
    const rows = tables('README.md', 'Flags').map(([name, value, standard]) => [code(name), code(value), code(standard)]);
    expect(rows).toEqual(Object.entries<Flag>(flags).map(([name, flag]) => [`--${name}`, flag.value, flag.default]));
  });

  it('has each flag about logging likewise', () => {
    const rows = tables('README.md', 'Logging flags').map(([name, value, standard]) => [code(name), code(value), code(standard)]);
    expect(rows).toEqual(Object.entries<Flag>(logFlags).map(([name, flag]) => [`--${name}`, flag.value, flag.default]));
  });

  it('has each variable that is read', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/env\['(\w+)'\]|'(\w+)' in (?:process\.)?env/g)].map(([, access, test]) => access ?? test ?? ''),
    );
    const asked = new Set<string>();
    const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void asked.add(String(name)) });
    expect(resolved(env)).toMatchObject({ ok: true });
    const table = tables('README.md', 'Environment').map(([name]) => code(name));
    expect([...table].sort()).toEqual([...new Set([...named, ...asked])].sort());
  });

  it('sees all variables: the configuration reads them, but for those of commands that have none, and of the program itself', () => {
    const elsewhere = sources.filter(
      (file) => !file.startsWith(join('src', 'config')) && /\benv\[|' in (?:process\.)?env\b/.test(read(file)),
    );
    expect(elsewhere).toEqual(['cli/load.ts', 'envoy/find-envoy.ts', 'log/terminal-lines.ts'].map((file) => join('src', file)));
    const computed = sources.filter((file) => /\benv\[[^']|\} = (?:process\.)?env\b/.test(read(file)));
    expect(computed).toEqual([join('src', 'config', 'environment.ts')]);
  });

  it('has the defaults of variables as they are', () => {
    const defaults = new Map(tables('README.md', 'Environment').map(([name, standard]) => [code(name), code(standard)]));
    const given = Object.fromEntries([...defaults].filter(([, standard]) => standard !== ''));
    expect(Object.keys(given)).toHaveLength(24);
    const config = (env: NodeJS.ProcessEnv) => {
      const result = resolved(env);
      if (!result.ok) throw new Error(JSON.stringify(result.problems));
      const { config, warnings } = result;
      const named = 'what is named by a variable'; // of ISTIO_META_TLS_* it matters that they are given
      const secrets = { ...config.secrets, namesServer: named, namesClient: named, namesPair: named };
      return { ...config, awaited: named, metadataVariables: named, secrets, warnings };
    };
    expect(config(given)).toEqual(config({}));
  });

  it('has each exit code of the agent', () => {
    const numbers = tables('README.md', 'Exit codes').flatMap(([cell]) => (/^\d+$/.test(code(cell)) ? [Number(code(cell))] : []));
    expect(numbers).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
  });

  it('has each code of a line of the log with its meaning', () => {
    expect(tables('README.md', 'Log events').map(([event, meaning]) => [code(event), meaning])).toEqual(Object.entries(logEvents));
  });

  it('has no code of a line of the log that no line has', () => {
    const texts = [...sources, 'demo/start.ts'].filter((file) => file !== join('src', 'log', 'log-event.ts')).map(read);
    expect(Object.keys(logEvents).filter((event) => !texts.some((text) => text.includes(`'${event}'`)))).toEqual([]);
  });

  it('has each command with its arguments', () => {
    const commands = (...path: readonly string[]): readonly string[] => {
      const page = execFileSync(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...path, '--help'], { encoding: 'utf8' });
      const [, list = ''] = page.split('Commands:\n');
      return [...list.matchAll(/^ {2}(\w+)((?: [[<]\w+(?:\.{3})?[\]>])*)/gm)].flatMap(([, name = '', words = '']) => {
        if (name === 'help' && path.length > 0) return [];
        return ['config', 'envoy'].includes(name) ? commands(name) : [[...path, name].join(' ') + words.replace(' [options]', '')];
      });
    };
    const table = tables('README.md', 'Commands').map(([command]) => code(command));
    expect([...table].sort()).toEqual([...commands()].sort());
  });

  it('has each reason for not being ready, and no other', () => {
    const reasons = tables('README.md', 'Status port')
      .map(([cell]) => code(cell))
      .filter((cell) => cell !== '' && !cell.includes('/'));
    const pieces = literals('src/status/readiness.ts').filter((text) => text.includes(' ') || ['draining', 'terminating'].includes(text));
    expect(pieces.filter((piece) => !reasons.some((reason) => reason.includes(piece)))).toEqual([]);
    expect(reasons.filter((reason) => !pieces.some((piece) => reason.startsWith(piece)))).toEqual([]);
  });

  it('names the commands that a machine of its own runs', () => {
    expect(read('README.md')).toContain('npm ci && npm start');
    for (const document of ['README.md', 'CONTRIBUTING.md']) expect(read(document)).toContain('npm ci && npm test && npm run test:nodes\n');
    expect(read('.ci/run').trim().split('\n').at(-1)).toBe('npm ci && npm test && npm run test:nodes');
    expect(statSync('.ci/run').mode & 0o111).toBe(0o111);
  });
});

describe('ARCHITECTURE.md', () => {
  it('has each folder of src', () => {
    expect(
      tables('ARCHITECTURE.md', 'The folders')
        .map(([folder]) => code(folder))
        .sort(),
    ).toEqual(readdirSync('src').sort());
  });

  it('begins each folder with files that exist', () => {
    const begins = tables('ARCHITECTURE.md', 'The folders').flatMap(([folder, , files = '']) =>
      [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => join('src', code(folder), file)),
    );
    expect(begins.length).toBeGreaterThan(19);
    expect(begins.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('names files of the reducer that exist', () => {
    const named = tables('ARCHITECTURE.md', 'The flow').map(([file]) => join('src/agent', code(file)));
    expect(named).toHaveLength(7);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  });
});

describe('docs/architecture/imports.md', () => {
  it('has the picture of the folders as they are, and the matrix of imports that is checked', () => {
    expect(spawnSync(process.execPath, ['scripts/picture.mjs', '--check'], { encoding: 'utf8' })).toMatchObject({ stderr: '', status: 0 });
    expect(tables('docs/architecture/imports.md', 'Imports').map(([folder]) => code(folder))).toEqual(Object.keys(architecture));
  });
});

describe.each(documents)('%s', (document) => {
  it('names files that exist', () => {
    const own = `(?:src|test|demo|bench|examples|scripts)/[\\w./-]+\\.(?:ts|mjs)|(?:${folders.join('|')})/[\\w-]+\\.ts`;
    const paths = [...read(document).matchAll(new RegExp(`(?<![\\w/-])(?:${own})\\b`, 'g'))].map(([path]) => path);
    expect(paths.filter((path) => !existsSync(path) && !existsSync(join('src', path)))).toEqual([]);
  });

  it('names scripts that exist', () => {
    const scripts = [...read(document).matchAll(/\bnpm run ([\w:]+)/g)].map(([, script]) => script ?? '');
    expect(scripts.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  });

  it('links to files and headings that exist', () => {
    const links = [...read(document).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    const anchors = (file: string) =>
      [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? document : join(dirname(document), file);
      return !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

describe('no file of the repository', () => {
  const texts = files()
    .map((path) => ({ path, text: read(path) }))
    .filter(({ text }) => !text.includes('\0'));
  // Written so that they do not find themselves.
  const registries =
    /registry\.[\w-]+\.\w|[p]ypi\.org|python[h]osted|"[r]esolved":|[a]rtifactory|[c]odeartifact|[j]frog|\bnexus\.[\w-]+\.\w/i;
  const machines = /\/home\/(?!a\b)[\w-]+\/|\/[U]sers\/[\w-]+|[A-Z]:\\\\?Users|(?<![\w./-])\/(?:[r]oot|work|workspace|builds)\/[\w.-]/;

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
