// Runs the unit and marble tests on each Node of test/nodes. Its folder comes first in PATH, for
// what the tests start.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

const { optionalDependencies } = JSON.parse(readFileSync('test/nodes/package.json', 'utf8'));
const names = Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${process.arch}`));
if (names.length === 0) throw new Error(`test/nodes/package.json has no Node for ${process.arch}. Add one.`);

for (const name of names) {
  const folder = resolve('test/nodes/node_modules', name, 'bin');
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
  process.stdout.write(`\n${name}\n`);
  const { status, error } = spawnSync(`${folder}/node`, ['node_modules/vitest/vitest.mjs', 'run', 'test/unit', 'test/marbles'], {
    env,
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
