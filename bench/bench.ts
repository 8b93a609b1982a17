import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { pinnedEnvoy } from '../src/envoy/find-envoy.ts';
import { table } from '../scripts/docs/markdown.ts';
import { load } from './load.ts';
import { type BenchName, type KeptReport, machine, page, type Report, titles } from './page.ts';
import { profile } from './profile.ts';
import { pod } from './pod.ts';
import { sds } from './sds.ts';
import { sources } from './sources.ts';
import { start } from './start.ts';
import { status } from './status.ts';

const benches: Readonly<Record<BenchName, (rounds?: number) => Promise<Report>>> = { start, profile, load, pod, sds, sources, status };
const resultsFile = 'bench/results.json';
const pageFile = 'docs/benchmarks.md';

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean', default: false } }, allowPositionals: true });
const [name, rounds] = positionals;
const all = Object.keys(titles) as BenchName[];
const chosen = name === undefined && values.write ? all : all.filter((one) => one === name);
if (chosen.length === 0) {
  console.error(`usage: npm run bench -- NAME [ROUNDS] [--write], with one of ${all.join(', ')}; or npm run bench -- --write`);
  process.exitCode = 64;
}
for (const one of chosen) {
  const report = await benches[one](rounds === undefined ? undefined : Number(rounds));
  console.log([titles[one], '', table(report.columns, report.rows), '', ...report.notes].join('\n'));
  if (values.write) await keep(one, { ...report, machine: machine(pinnedEnvoy.version) });
}

/** Keeps a report in place of the one before, and writes the page anew. */
async function keep(one: BenchName, report: KeptReport): Promise<void> {
  const before = existsSync(resultsFile) ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<BenchName, KeptReport>) : {};
  const kept = { ...before, [one]: report };
  writeFileSync(resultsFile, await format(JSON.stringify(kept), { ...(await resolveConfig(resultsFile)), filepath: resultsFile }));
  writeFileSync(pageFile, await page(kept));
}
