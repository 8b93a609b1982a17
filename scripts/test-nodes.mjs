// Runs tests on each Node of test/nodes: the unit tests that use a module of Node for more than
// reading files, and the tests of the installed library. All other tests are plain JavaScript, in
// which the Nodes do not differ. The folder of the Node comes first in PATH, for the programs that
// the tests start. The Nodes run one after the other, because side by side they would only wait.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const { optionalDependencies } = JSON.parse(readFileSync('test/nodes/package.json', 'utf8'));
const names = Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${process.arch}`));
if (names.length === 0)
  throw new Error(`test/nodes/package.json has no Node for ${process.arch}. Add one.`);

/**
 * Imports that do not count: modules in which the Nodes do not differ, and functions that read the
 * inputs of a test.
 */
const plain =
  /import \{ (?:,? ?(?:readFileSync|readdirSync))+ \} from 'node:fs'|'node:(?:path|os|util|url)'/g;
const units = readdirSync('test/unit', { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && !/^(?:scripts|support)\b/.test(name))
  .map((name) => join('test/unit', name))
  .filter((file) => readFileSync(file, 'utf8').replace(plain, '').includes(" from 'node:"));
/** The other tests of `test/e2e` run the program as built for one Node. */
const files = [...units, 'test/e2e/plain-node.test.ts', 'test/e2e/examples.test.ts'];

/** Runs the tests on a Node, and returns the exit code. */
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
