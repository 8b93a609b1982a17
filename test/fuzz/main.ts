import { execFileSync, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writePage } from '../support/write-page.ts';
import type { Growth } from './growth.ts';
import { parsers } from './parsers.ts';

const page = 'test/fuzz/report.md';
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
  },
});
const chosen = parsers.filter(({ name }) => name.includes(values.only));
const seed = Number(values.seed ?? Date.now() % 2 ** 31);

/**
 * The result of one parser. Each parser runs in a process of its own, so that an abort is found.
 */
interface Run {
  readonly runs: number;
  readonly failure?: string;
}

function run(name: string): Run & { readonly result: string } {
  const args = [
    '--max-old-space-size=1024',
    '--import',
    'tsx',
    'test/fuzz/run-parser.ts',
    name,
    values.seconds,
    String(seed),
  ];
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
  });
  if (status !== 0)
    return {
      runs: 0,
      result: 'ends the process',
      failure: `${signal ?? `exit code ${status}`}\n${stderr}`,
    };
  const outcome = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Run;
  return { ...outcome, result: outcome.failure === undefined ? 'takes all' : 'throws' };
}

const rows: string[] = [];
for (const { name } of chosen) {
  const { runs, result, failure } = run(name);
  console.log(
    `${name}: seed ${seed}, ${runs} inputs${failure === undefined ? '' : `\n${failure}`}`,
  );
  if (failure !== undefined) process.exitCode = 1;
  rows.push(`| ${name} | ${runs} | ${result} |`);
}

const grown = execFileSync(process.execPath, ['--import', 'tsx', 'test/fuzz/growth.ts'], {
  encoding: 'utf8',
})
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Partial<Growth>)
  .filter(({ ratio }) => ratio !== undefined);
const text = `# Fuzzing

Made by \`npm run fuzz\`: ${values.seconds} s for each parser, in a process of its own, seed ${seed}, Node
${process.versions.node}. The parsers are those of both programs.

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
if (values.only === '') await writePage(page, text);
