// Runs the tests in which Node can differ on each Node of test/nodes: unit tests of the programs
// that use a module of Node for more than to read a file, and those of the installed library. The
// others, and marbles, are plain JavaScript. The folder of that Node comes first in PATH, for the
// programs that the tests start. One Node follows the other: side by side, they would only wait.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const { optionalDependencies } = JSON.parse(readFileSync('test/nodes/package.json', 'utf8'));
const names = Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${process.arch}`));
if (names.length === 0)
  throw new Error(`test/nodes/package.json has no Node for ${process.arch}. Add one.`);

/** Modules in which no Node differs, and what reads the inputs of a test. */
const plain =
  /import \{ (?:,? ?(?:readFileSync|readdirSync))+ \} from 'node:fs'|'node:(?:path|os|util|url)'/g;
const units = readdirSync('test/unit', { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && !/^(?:scripts|support)\b/.test(name))
  .map((name) => join('test/unit', name))
  .filter((file) => readFileSync(file, 'utf8').replace(plain, '').includes(" from 'node:"));
/** `test/e2e` otherwise runs the program, and its build for the Node that has built it. */
const files = [...units, 'test/e2e/plain-node.test.ts', 'test/e2e/examples.test.ts'];

/** Returns the exit code. */
function testsOn(name) {
  console.log(name);
  const folder = resolve('test/nodes/node_modules', name, 'bin');
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
  const { status } = spawnSync(
    `${folder}/node`,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=minimal', ...files],
    { env, stdio: 'inherit' },
  );
  return status ?? 1;
}

process.exitCode = Math.max(...names.map(testsOn));
