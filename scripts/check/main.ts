// `npm run check`: what a commit needs. Formats what has changed, then lints, checks types, imports
// and unused code, and runs the documents' tests and the unit and marble tests that the change can
// reach. `--whole`, of `npm test`, looks at everything and changes no file.
import { readFileSync } from 'node:fs';
import { changedSince, contentsNow, rememberGood } from './changed-files.ts';
import { reachedTests } from './reached-tests.ts';
import { runLane, type Stage } from './stage.ts';

const isWhole = process.argv.includes('--whole');
const bin = (name: string) => `node_modules/.bin/${name}`;
const before = contentsNow();

function format(): Stage | undefined {
  const again = 'npm run format';
  if (isWhole)
    return {
      name: 'format',
      command: [bin('prettier'), '--check', '--log-level', 'warn', '.'],
      again,
    };
  const changed = changedSince('format', before);
  const files = changed === 'everything' ? ['.'] : changed.filter((path) => path in before);
  if (files.length === 0) return undefined;
  return {
    name: 'format',
    command: [bin('prettier'), '--write', '--ignore-unknown', '--log-level', 'warn', ...files],
    again,
  };
}

function tests(): Stage {
  const projects = ['--project', 'unit', '--project', 'apart'];
  const paths = Object.keys(before).filter((path) => path.endsWith('.test.ts'));
  const texts = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  const reached = isWhole ? 'everything' : reachedTests(changedSince('tests', before), texts);
  const args =
    reached === 'everything' ? ['run', ...projects] : ['related', '--run', ...projects, ...reached];
  const name = `unit and marble tests${reached === 'everything' ? '' : ' that the change can reach'}`;
  return { name, command: [bin('vitest'), ...args], again: `npx vitest run ${projects.join(' ')}` };
}

const typesAndLint: Stage = {
  name: 'types and lint',
  command: [
    process.execPath,
    '--import',
    'tsx',
    'scripts/check/types-and-lint.ts',
    ...(isWhole ? ['--all'] : []),
  ],
  again: 'node --import tsx scripts/check/types-and-lint.ts',
};
const architecture: Stage = {
  name: 'architecture',
  command: [bin('depcruise'), '--config', '.dependency-cruiser.mjs', 'src'],
  again: 'npm run lint:architecture',
};
const unused: Stage = { name: 'unused code', command: [bin('knip')], again: 'npm run lint:unused' };

const formatting = format();
const first = formatting === undefined ? [] : [formatting];
const formatted = isWhole ? [] : await runLane(first);
if (formatted.every(({ code }) => code === 0) && !isWhole) rememberGood('format', contentsNow());
// Two lanes: the compiler takes one processor, the others the other.
const lanes = [
  runLane([typesAndLint]),
  runLane([...(isWhole ? first : []), architecture, unused, tests()]),
];
const outcomes = [...formatted, ...(await Promise.all(lanes)).flat()];
// What was formatted above is as it was looked at: formatting changes no meaning.
if (outcomes.at(-1)?.code === 0) rememberGood('tests', contentsNow());

const failed = outcomes.filter(({ code }) => code !== 0);
for (const { stage } of failed)
  process.stdout.write(`Failed: ${stage.name}\n  again: ${stage.again}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
