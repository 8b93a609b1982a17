import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { attempts, madeAttempt } from './attempts.ts';
import { attemptsReport, type MadeAttempt } from './attempts-report.ts';
import { startFlooder } from './flood.ts';
import { flooded, type FloodResult, floods } from './floods.ts';
import { startSecureStage } from './secure-stage.ts';

const page = 'test/hostile/attempts.md';
/** Runs the attempts and floods whose names contain this text. */
const { only } = parseArgs({ options: { only: { type: 'string', default: '' } } }).values;

const [stage, flooder] = await Promise.all([startSecureStage(), startFlooder()]);
const madeAttempts: MadeAttempt[] = [];
const results: FloodResult[] = [];
try {
  for (let count = 0; count < 5; count += 1) await stage.plane.change();
  for (const attempt of attempts.filter(({ name }) => name.includes(only)))
    madeAttempts.push({ name: attempt.name, ...(await madeAttempt(attempt, stage)) });
  for (const [index, row] of floods.entries())
    if (row.name.includes(only)) results.push(await flooded(row, index, { stage, flooder }));
} finally {
  await flooder.dispose();
  await stage.dispose();
}
const text = attemptsReport(madeAttempts, results, machineText());
console.log(text);
if ([...madeAttempts, ...results].some(({ wrong }) => wrong !== '')) process.exitCode = 1;
if (only === '') await writePage(page, text);
