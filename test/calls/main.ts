import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { controlPlane } from '../support/control-plane.ts';
import { report } from './report.ts';
import { type CallsReport, runCalls } from './run-calls.ts';

const options = {
  seeds: { type: 'string', default: '1,2,3' },
  calls: { type: 'string', default: '200' },
  /** Whether the report is written. */
  write: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
const seeds = values.seeds.split(',').map(Number);
const calls = Number(values.calls);
if (seeds.some(Number.isNaN) || Number.isNaN(calls)) {
  console.error('usage: npm run calls -- [--seeds N,N] [--calls N] [--write]');
  process.exit(64);
}
if (controlPlane === undefined) {
  console.error('there is no istiod to compare with: see test/support/control-plane.ts');
  process.exit(69);
}

const results = new Map<number, CallsReport>();
for (const seed of seeds) {
  const figures = await runCalls({ seed, calls, istiod: controlPlane });
  results.set(seed, figures);
  const { differences, seconds } = figures;
  console.log(`seed ${seed}: ${differences.length} of ${calls} calls differ, ${seconds} s`);
  for (const difference of differences) console.log(JSON.stringify(difference));
}
if (values.write) {
  await writePage('test/calls/report.md', report(results, machineText()));
}
if ([...results.values()].some(({ differences }) => differences.length > 0)) process.exitCode = 1;
