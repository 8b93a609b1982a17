import { readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { format } from 'prettier';
import { table } from '../scripts/docs/markdown.ts';
import { bars } from './bars.ts';
import { goFive, goThirty } from './contenders.ts';
import type { Figures, Report } from './figures.ts';
import { type Row, rows } from './rows.ts';

/** A stored report, with the machine on which it was measured. */
export interface KeptReport extends Report {
  readonly machine: string;
}

/** The titles of the benchmarks, in the order of the page. */
export const titles = {
  start: 'Start',
  idle: 'At rest',
  status: 'The status port under load',
  rotations: 'Rotations',
  endurance: 'An hour of load, and 300 rotations',
  held: 'What an agent holds after load',
  pod: 'A pod of a real mesh',
  load: 'Requests during hot restarts',
  sds: 'From a change of the files to the first client that gets it',
  levers: 'What flags of V8 and of malloc do',
  profile: 'Where the time of a start goes',
  scrape: 'Where the time of a scrape goes',
  modules: 'What the modules take',
  sources: 'A folder of 10,000 files as a source',
  discovery: 'The control plane beside istiod',
  kubernetes: 'The control plane over Kubernetes, beside istiod',
  transports: 'Three ways to speak gRPC',
} as const;

export type BenchName = keyof typeof titles;
export type Kept = Readonly<Partial<Record<BenchName, KeptReport>>>;

const pictureFolder = 'benchmarks';
const goAgents = [goFive, goThirty];

/** A page of Markdown with all stored reports. */
export async function page(kept: Kept): Promise<string> {
  const names = (Object.keys(titles) as BenchName[]).filter((name) => kept[name] !== undefined);
  const sections = names.flatMap((name) => {
    const { machine = '', columns, rows: lines, notes = [] } = kept[name] ?? {};
    const benchTable =
      columns === undefined || lines === undefined ? [] : [table(columns, lines), ''];
    return [
      `## ${titles[name]}`,
      '',
      `Command: \`npm run bench -- ${name}\`. Machine: \`${machine}\`.`,
      '',
      ...benchTable,
      ...notes.flatMap((note) => [note, '']),
    ];
  });
  const text = [
    '# Benchmarks',
    '',
    '`npm run bench -- all --write` writes this page. All contenders run in turns, on one machine, in one run. Values are medians.',
    '',
    ...summary(figuresOf(kept)),
    ...sections,
  ];
  return format(text.join('\n'), { parser: 'markdown', proseWrap: 'always', printWidth: 120 });
}

/** The pictures of the page, by the names of their files. */
export function pictures(kept: Kept): ReadonlyMap<string, string> {
  const figures = figuresOf(kept);
  return new Map(
    rows.flatMap(({ id, what, unit, digits, better }) => {
      const values = Object.entries(figures[id] ?? {});
      return values.length < 3
        ? []
        : [[`${id}.svg`, bars({ title: what, unit, digits, better, values })]];
    }),
  );
}

function figuresOf(kept: Kept): Figures {
  return Object.assign({}, ...Object.values(kept).map(({ figures }) => figures)) as Figures;
}

function summary(figures: Figures): readonly string[] {
  const ownNames = [...new Set(rows.flatMap(({ id }) => Object.keys(figures[id] ?? {})))].filter(
    isOwn,
  );
  const measured = rows.filter(({ id }) => figures[id] !== undefined);
  if (measured.length === 0) return [];
  const lines = measured.map((row) => {
    const values = figures[row.id] ?? {};
    const shown = (who: string) => values[who]?.toFixed(row.digits) ?? '–';
    const floors = Object.keys(values).filter(
      (who) => !isOwn(who) && !goAgents.includes(who) && !who.startsWith('`'),
    );
    const floor = floors.map(shown).join(' / ');
    const ratios = goAgents.flatMap((go) => ratio(values, ownNames, go));
    return [
      `${row.what}${row.unit === '' ? '' : `, ${row.unit}`}`,
      ...[...ownNames, ...goAgents].map(shown),
      floor === '' ? '–' : floor,
      ratios.join('; ') || '–',
      row.goal,
    ];
  });
  const lost = measured.flatMap((row) => loss(row, figures, ownNames));
  const drawn = measured.filter(({ id }) => Object.keys(figures[id] ?? {}).length > 2);
  return [
    '## Beside the Go agents and the floor',
    '',
    table(['What', ...ownNames, ...goAgents, 'Floor', 'Ratio', 'Goal'], lines),
    '',
    'The columns of this agent are the bundle on each Node, and the single executable if it was built. The ratios have the same order. The floor is a Node of each version that does nothing, or an Envoy alone.',
    '',
    ...drawn.flatMap(({ id, what }) => [`![${what}](${pictureFolder}/${id}.svg)`, '']),
    ...(lost.length === 0 ? [] : ['These goals are missed:', '', ...lost, '']),
    'The [report of the chaos runs](../test/chaos/report.md) has the longest time without an answer while everything around the agent fails.',
    '',
  ];
}

function ratio(
  values: Readonly<Record<string, number>>,
  ownNames: readonly string[],
  go: string,
): readonly string[] {
  const [peer, all] = [values[go], ownNames.flatMap((who) => values[who] ?? [])];
  return peer === undefined || peer < 0.005 || all.length === 0
    ? []
    : [`${all.map((value) => (value / peer).toFixed(1)).join(' / ')} × ${go}`];
}

function loss(row: Row, figures: Figures, ownNames: readonly string[]): readonly string[] {
  const values = figures[row.id] ?? {};
  const bare = (who: string) =>
    figures[row.id.endsWith('rss') ? 'idle-rss' : 'idle-own']?.[`bare ${who}`] ?? Number.NaN;
  const missed = ownNames.filter(
    (who) =>
      values[who] !== undefined &&
      !row.reached(values[who], (other) => values[other] ?? Number.NaN, bare(who)),
  );
  return missed.length === 0
    ? []
    : [`- **${row.what}** (${row.goal}; ${missed.join(', ')}): ${row.why}.`];
}

function isOwn(who: string): boolean {
  return /^Node |^Executable$/.test(who);
}

/** The machine of a report, as a text. */
export function machine(envoy: string): string {
  const model = cpus()[0]?.model ?? '';
  const node = (version: string) => version.replace(/^v/, '');
  const others = ['22', '24'].flatMap((version) => installed(version));
  return `${cpus().length} cores (${arch()}, ${model}), ${(totalmem() / 2 ** 30).toFixed(0)} GB, Linux ${release()}, Node ${[node(process.version), ...others].join(', ')}, Envoy ${envoy}`;
}

function installed(version: string): readonly string[] {
  try {
    const file = `test/nodes/node_modules/node-${version}-${process.arch}/package.json`;
    return [(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version];
  } catch {
    return [];
  }
}
