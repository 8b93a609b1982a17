import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { OutageReport } from '../outages/outage.ts';
import { machineText, writePage } from '../support/write-page.ts';
import { eventually } from '../support/eventually.ts';
import { faults } from './faults.ts';
import { refusals } from './refusals.ts';
import { report } from './report.ts';
import { runFault } from './run-fault.ts';
import { lifetime, type SpireStage, startSpireStage } from './spire-stage.ts';

const options = {
  /** The folder of `spire-server` and `spire-agent`. */
  programs: { type: 'string', default: process.env['SPIRE_PROGRAMS'] ?? '' },
  /** Runs only the faults whose names contain this text. */
  only: { type: 'string', default: '' },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { programs, only, write } = parseArgs({ options }).values;
if (!existsSync(join(programs, 'spire-server'))) {
  console.error('--programs, or SPIRE_PROGRAMS: name a folder with spire-server and spire-agent');
  process.exit(64);
}

const stage = await startSpireStage(resolve(programs));
try {
  await run(stage);
} finally {
  if (process.exitCode === 1) showLogs(stage);
  await stage.dispose();
}

async function run(stage: SpireStage): Promise<void> {
  await eventually(async () => (await stage.rig.ask()).status === 200, { within: 120_000 });
  const reports: OutageReport[] = [];
  for (const [index, fault] of faults.filter(({ name }) => name.includes(only)).entries()) {
    const done = await runFault(stage, fault, index % 2 === 0 ? 'v1' : 'v2');
    console.log(done);
    reports.push(done);
    if (done.violations.length > 0) process.exitCode = 1;
  }
  const refused = await refusals(stage);
  console.log(refused);
  const { version } = stage.spire;
  const results = { version, lifetime, faults: reports, refusals: refused };
  if (!write) return;
  writeFileSync('test/spire/results.json', `${JSON.stringify(results, undefined, 2)}\n`);
  await writePage('test/spire/report.md', report(results, machineText()));
}

/** Prints the ends of all logs. */
function showLogs({ rig, agents }: SpireStage): void {
  for (const agent of Object.values(agents))
    console.error(`${agent.output().slice(-4_000)}\n${agent.errors().slice(-2_000)}`);
  const folder = join(rig.folder, 'spire');
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log')))
    console.error(name, readFileSync(join(folder, name), 'utf8').slice(-2_000));
}
