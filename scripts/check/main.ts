// `npm run check`: the checks before a commit. Formats the changed files, then lints, checks types,
// imports and unused code, and runs the documents' tests and the unit and marble tests that the
// change can reach.
import { readFileSync } from 'node:fs';
import { changedSince, contentsNow, rememberGood } from './changed-files.ts';
import { reachedTests } from './reached-tests.ts';
import { endWith, failedStages, interruption, runLane, type Stage } from './stage.ts';
import { architecture, format, typesAndLint, unitTests, unused } from './stages.ts';

const before = contentsNow();

/** The stage that formats the changed files; none if no file has changed. */
function formatChanged(): Stage[] {
  const changed = changedSince('format', before);
  const files = changed === 'everything' ? ['.'] : changed.filter((path) => path in before);
  return files.length === 0 ? [] : [format(files)];
}

function reached(): readonly string[] | 'everything' {
  const paths = Object.keys(before).filter((path) => path.endsWith('.test.ts'));
  const texts = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  return reachedTests(changedSince('tests', before), texts);
}

const stop = interruption();
const formatted = await runLane(formatChanged(), { stop });
if (formatted.every(({ code }) => code === 0)) rememberGood('format', contentsNow());
// There are two lanes: the compiler takes one processor, and the other stages take the other.
const lanes = [
  runLane([typesAndLint('reached')], { stop }),
  runLane([architecture, unused, unitTests(reached())], { stop }),
];
const outcomes = [...formatted, ...(await Promise.all(lanes)).flat()];
// Formatting changes no meaning, so the files count as tested after it.
if (outcomes.at(-1)?.code === 0) rememberGood('tests', contentsNow());
endWith(failedStages(outcomes));
