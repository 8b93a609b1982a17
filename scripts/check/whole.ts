// `npm test`: everything that a change can break. First what fails often and soon: format, types,
// lint, imports, unused code, and the unit and marble tests. Then the tests over real programs.
// With the word `checks` or `tests` it runs only that part. It changes no file.
import { failedStages, runLane, type Stage } from './stage.ts';
import { architecture, bin, typesAndLint, unitTests, unused } from './stages.ts';

const format: Stage = {
  name: 'format',
  command: [bin('prettier'), '--check', '--log-level', 'warn', '.'],
  again: 'npm run format',
  output: 'if it fails',
};
const projects = ['--project', 'end-to-end', '--project', 'in-pairs'];
const endToEnd: Stage = {
  name: 'end-to-end tests',
  command: [bin('vitest'), 'run', ...projects],
  again: `npx vitest run ${projects.join(' ')}`,
  output: 'at once',
};
const parts = [
  // Two lanes: the compiler takes one processor, the others the other.
  {
    name: 'checks',
    lanes: [[typesAndLint('all')], [format, architecture, unused, unitTests('everything')]],
  },
  { name: 'tests', lanes: [[endToEnd]] },
];

/** Runs parts up to one that fails. Returns the lines that say what has failed. */
async function failedOf(chosen: typeof parts): Promise<string[]> {
  for (const { lanes } of chosen) {
    const failed = failedStages((await Promise.all(lanes.map(runLane))).flat());
    if (failed.length > 0) return failed;
  }
  return [];
}

const only = process.argv[2];
const failed = await failedOf(parts.filter(({ name }) => only === undefined || name === only));
if (failed.length > 0) process.stdout.write(`${failed.join('\n')}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
