// `npm test`: everything that a change can break. First what fails often and soon: format, types,
// lint, imports, unused code, and the unit and marble tests. Then the tests over real programs.
// With the word `checks` or `tests` it runs only that part. It changes no file.
import { endWith, failedStages, runLane, type Stage } from './stage.ts';
import { architecture, bin, format, typesAndLint, unitTests, unused } from './stages.ts';

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
    lanes: [[typesAndLint('all')], [format('all'), architecture, unused, unitTests('everything')]],
  },
  { name: 'tests', lanes: [[endToEnd]] },
];

/** Runs parts up to one that fails. Returns the lines that say what has failed. */
async function failedOf(selected: typeof parts): Promise<string[]> {
  for (const { lanes } of selected) {
    const failed = failedStages((await Promise.all(lanes.map(runLane))).flat());
    if (failed.length > 0) return failed;
  }
  return [];
}

const only = process.argv[2];
const chosen = parts.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0)
  throw new Error(`${only} is none of ${parts.map(({ name }) => name).join()}`);
endWith(await failedOf(chosen));
