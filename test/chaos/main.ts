import { tmpdir } from 'node:os';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { plus, report, type Results } from './report.ts';
import { runChaos } from './run-chaos.ts';

const usage =
  'usage: npm run chaos -- [--seed N] [--minutes M] [--events N] [--hostile] [--resume] [--write]';
const options = {
  seed: { type: 'string' },
  minutes: { type: 'string' },
  events: { type: 'string' },
  /** Whether an attacker runs beside the agent. */
  hostile: { type: 'boolean', default: false },
  /** Continues after the events of this seed that the results contain, and adds to the results. */
  resume: { type: 'boolean', default: false },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const minutes = Number(values.minutes ?? (values.events === undefined ? 5 : Infinity));
const events = Number(values.events ?? Infinity);
if ([seed, minutes, events].some(Number.isNaN)) {
  console.error(usage);
  process.exit(64);
}

const resultsFile = 'test/chaos/results.json';
const results = (
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
) as Results;
const name = `${seed}${values.hostile ? ', hostile' : ''}`;
const before = values.resume ? results[name] : undefined;
console.log(`seed ${name}${before === undefined ? '' : `, behind ${before.events} events`}`);
const { log, ...figures } = await runChaos({
  seed,
  events,
  skipped: before?.events ?? 0,
  duration: minutes * 60_000,
  hostile: values.hostile,
  onEvent: (text) => console.log(text),
});
const sum = plus(before, figures);
console.log(sum);
if (values.write || values.resume) {
  const all: Results = { ...results, [name]: sum };
  writeFileSync(resultsFile, `${JSON.stringify(all, undefined, 2)}\n`);
  await writePage('test/chaos/report.md', report(all, machineText()));
}
if (figures.violations.length > 0) {
  const file = join(tmpdir(), `pilot-agent-chaos-${seed}.log`);
  writeFileSync(file, log);
  console.error(`seed ${seed}:\n${figures.violations.join('\n')}\nwhat the agents wrote: ${file}`);
  process.exitCode = 1;
}
