import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { report, type Results } from './report.ts';
import { runEdits } from './run-edits.ts';

const options = {
  seed: { type: 'string', default: '41' },
  edits: { type: 'string', default: '200' },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
const [seed, edits] = [Number(values.seed), Number(values.edits)];
if (Number.isNaN(seed) || Number.isNaN(edits)) {
  console.error('usage: npm run edits -- [--seed N] [--edits N] [--write]');
  process.exit(64);
}

const resultsFile = 'test/edits/results.json';
const figures = await runEdits({ seed, edits, onEdit: (text) => console.log(text) });
console.log(figures);
if (values.write) {
  const before = (
    existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  ) as Results;
  const results: Results = { ...before, [seed]: figures };
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  await writePage('test/edits/report.md', report(results, machineText()));
}
if (figures.violations.length > 0) process.exitCode = 1;
