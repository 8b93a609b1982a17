// `npm test`: everything that a change can break: format, types, lint, imports, unused code, the
// unit and marble tests, and the tests over real programs. These wait more than they compute, so
// the checks run beside them. If a check fails, the tests over real programs are ended. It changes
// no file.
import { endWith, failedStages, interruption, runLane, type Stage } from './stage.ts';
import { architecture, bin, format, typesAndLint, unitTests, unused } from './stages.ts';

const projects = ['--project', 'end-to-end', '--project', 'in-pairs'];
const endToEnd: Stage = {
  name: 'end-to-end tests',
  command: [bin('vitest'), 'run', ...projects],
  again: `npx vitest run ${projects.join(' ')}`,
  output: 'at once',
};

/** The unit and marble tests run with low priority, because the other tests check times. */
const behindOthers = (stage: Stage): Stage => ({
  ...stage,
  command: ['nice', '-n', '10', ...stage.command],
});

const stop = interruption();
const failed = new AbortController();
const checks = [
  [typesAndLint('all')],
  [format('all'), architecture, unused, behindOthers(unitTests('everything'))],
].map((stages) => runLane(stages, { stop, onFailure: () => failed.abort() }));
const tests = runLane([endToEnd], { stop: AbortSignal.any([stop, failed.signal]) });
endWith(failedStages((await Promise.all([...checks, tests])).flat()));
