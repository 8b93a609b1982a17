import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { pinnedEnvoy } from '../src/pilot-agent/envoy/find-envoy.ts';
import { table } from '../scripts/docs/markdown.ts';
import { missing } from './contenders.ts';
import { discovery } from './discovery.ts';
import { endurance } from './endurance.ts';
import type { Report } from './figures.ts';
import { heldMemory } from './held-memory.ts';
import { idle } from './idle.ts';
import { kubernetes } from './kubernetes.ts';
import { levers } from './levers.ts';
import { load } from './load.ts';
import { type BenchName, type KeptReport, machine, page, pictures, titles } from './page.ts';
import { modules } from './modules.ts';
import { pod } from './pod.ts';
import { profile, scrape } from './profile.ts';
import { rotations } from './rotations.ts';
import { sds } from './sds.ts';
import { sources } from './sources.ts';
import { start } from './start.ts';
import { status } from './status.ts';
import { transports } from './transports.ts';

const benches: Readonly<Record<BenchName, (amount?: number) => Promise<Report>>> = {
  start,
  idle,
  status,
  rotations,
  endurance,
  held: heldMemory,
  pod,
  load,
  sds,
  levers,
  profile,
  scrape,
  modules,
  sources,
  discovery,
  kubernetes,
  transports,
};
const resultsFile = 'bench/results.json';
const pageFile = 'docs/benchmarks.md';
const pictureFolder = 'docs/benchmarks';

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [name, amount] = positionals;
const names = Object.keys(titles) as BenchName[];
const chosen =
  name === 'all'
    ? names.filter((benchName) => benchName !== 'endurance')
    : names.filter((benchName) => benchName === name);
if (chosen.length === 0) {
  console.error(
    `usage: npm run bench -- NAME [AMOUNT] [--write], with one of all, ${names.join(', ')}`,
  );
  process.exitCode = 64;
}
for (const chosenName of chosen) {
  const report = await benches[chosenName](amount === undefined ? undefined : Number(amount));
  const whole =
    report.figures === undefined ? report : { ...report, notes: [...report.notes, ...missing()] };
  console.log([titles[chosenName], '', ...tables(whole), ...whole.notes].join('\n'));
  if (values.write) await keep(chosenName, { ...whole, machine: machine(pinnedEnvoy.version) });
}

function tables({ figures = {}, columns, rows }: Report): readonly string[] {
  const measured = Object.entries(figures).flatMap(([row, all]) =>
    Object.entries(all).map(([who, value]) => [row, who, value.toFixed(2)]),
  );
  return [
    ...(measured.length === 0 ? [] : [table(['Row', 'Who', 'Value'], measured), '']),
    ...(columns === undefined || rows === undefined ? [] : [table(columns, rows), '']),
  ];
}

/** Replaces the stored report of this benchmark, and writes the page and its pictures again. */
async function keep(benchName: BenchName, report: KeptReport): Promise<void> {
  const before = existsSync(resultsFile)
    ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<BenchName, KeptReport>)
    : {};
  const kept = { ...before, [benchName]: report };
  writeFileSync(
    resultsFile,
    await format(JSON.stringify(kept), {
      ...(await resolveConfig(resultsFile)),
      filepath: resultsFile,
    }),
  );
  writeFileSync(pageFile, await page(kept));
  mkdirSync(pictureFolder, { recursive: true });
  for (const file of readdirSync(pictureFolder)) rmSync(`${pictureFolder}/${file}`);
  for (const [file, svg] of pictures(kept)) writeFileSync(`${pictureFolder}/${file}`, svg);
}
