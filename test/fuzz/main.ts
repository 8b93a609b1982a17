import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { format, resolveConfig } from 'prettier';
import type { Growth } from './growth.ts';
import { parsers } from './parsers.ts';

const page = 'test/fuzz/report.md';
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, only: { type: 'string', default: '' }, seed: { type: 'string' } },
});
const chosen = parsers.filter(({ name }) => name.includes(values.only));
const seed = Number(values.seed ?? Date.now() % 2 ** 31);

const rows: string[] = [];
for (const { name, takesAll } of chosen) {
  const options = { seed, numRuns: Infinity, interruptAfterTimeLimit: Number(values.seconds) * 1_000, markInterruptAsFailure: false };
  const details = await fc.check(takesAll, options);
  console.log(`${name}: seed ${seed}, ${details.numRuns} inputs${details.failed ? `\n${fc.defaultReportMessage(details)}` : ''}`);
  if (details.failed) process.exitCode = 1;
  rows.push(`| ${name} | ${details.numRuns} | ${details.failed ? 'throws' : 'takes all'} |`);
}

const grown = execFileSync(process.execPath, ['--import', 'tsx', 'test/fuzz/growth.ts'], { encoding: 'utf8' })
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Partial<Growth>)
  .filter(({ ratio }) => ratio !== undefined);
const text = `# Fuzzing

Made by \`npm run fuzz\`: ${values.seconds} s for each parser, seed ${seed}, Node ${process.versions.node}.

| Parser | Inputs | Result |
| --- | --: | --- |
${rows.join('\n')}

## Growth

The CPU time of an input that is 16 times as large as another one, by the time of that one. What is read in less than
2 ms is not compared. \`npm test\` fails above 64.

| Parser | What grows | CPU time of the large one, ms | Ratio |
| --- | --- | --: | --: |
${grown.map(({ parser, shape, large, ratio = 0 }) => `| ${parser} | ${shape} | ${large} | ${ratio === 0 ? '' : ratio} |`).join('\n')}
`;
const style = await resolveConfig(page);
if (values.only === '') writeFileSync(page, await format(text, { ...style, parser: 'markdown' }));
