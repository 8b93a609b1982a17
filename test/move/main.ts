import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { eventually } from '../support/eventually.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';
import { apps, type Side } from './apps.ts';
import { type MoveStage, startMoveStage } from './move-stage.ts';
import { moves } from './moves.ts';
import { report, type Results } from './report.ts';
import { roots } from './roots.ts';
import { allAnswer, runStep } from './run-step.ts';
import type { Step, StepReport } from './step.ts';

const options = {
  /** Runs only the groups whose names contain this text. */
  only: { type: 'string', default: '' },
  /** How long certificates last. */
  lifetime: { type: 'string', default: '60s' },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { only, lifetime, write } = parseArgs({ options }).values;

if (write && lifetime !== options.lifetime.default) {
  console.error(`--write keeps results of certificates that last ${options.lifetime.default}`);
  process.exit(64);
}
const resultsFile = 'test/move/results.json';
const first = await pluggedAuthority();
await group('istiod', 'istiod', moves);
await group('root', 'pilot-discovery', roots(first));

/** Runs the steps of a group, if it is wanted, over pods that begin at a control plane. */
async function group(name: keyof Results, begin: Side, steps: readonly Step[]): Promise<void> {
  if (!name.includes(only)) return;
  const stage = await startMoveStage(first, lifetime);
  const reports: StepReport[] = [];
  try {
    await setUp(stage, begin);
    for (const [index, step] of steps.entries()) {
      const done = await runStep(stage, step, String(index));
      console.log(done);
      reports.push(done);
      if (done.violations.length > 0) process.exitCode = 1;
    }
  } finally {
    await stage.dispose();
  }
  if (write) await save(name, reports);
}

/** Starts a control plane and the pods. The pods then call each other. */
async function setUp(stage: MoveStage, begin: Side): Promise<void> {
  await stage.start(begin);
  await stage.lead(begin, begin);
  for (const app of apps) await stage.roll(app, begin);
  await eventually(() => allAnswer(stage), { every: 200, within: 300_000 });
  for (const pod of stage.pods()) stage.traffic.begin(pod);
}

async function save(name: keyof Results, reports: readonly StepReport[]): Promise<void> {
  const before = (
    existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  ) as Results;
  const all: Results = { ...before, [name]: reports };
  writeFileSync(resultsFile, `${JSON.stringify(all, undefined, 2)}\n`);
  await writePage('test/move/report.md', report(all, machineText()));
}
