// Runs the tests in which Node can differ on each Node of test/nodes: unit tests that use a module
// of Node themselves, and those of the installed library. The others, and marbles, are plain
// JavaScript. The folder of that Node comes first in PATH, for the programs that the tests start.
// All Nodes are tested side by side, but for what looks at the whole machine.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const { optionalDependencies } = JSON.parse(readFileSync('test/nodes/package.json', 'utf8'));
const names = Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${process.arch}`));
if (names.length === 0)
  throw new Error(`test/nodes/package.json has no Node for ${process.arch}. Add one.`);

const units = readdirSync('test/unit', { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test/unit', name))
  .filter((file) => /from 'node:(?!path|os|util)/.test(readFileSync(file, 'utf8')));
/** `test/e2e` otherwise runs the program, and its build for the Node that has built it. */
const files = [...units, 'test/e2e/plain-node.test.ts', 'test/e2e/examples.test.ts'];
/** It floods what tells of the agents of a machine: a second run of it would find none. */
const wholeMachine = ['test/unit/pilot-agent/run/end/agents-here.test.ts'];

/** Resolves to the exit code. What a Node prints comes in one piece, when it is through. */
function testsOn(name, tests) {
  const folder = resolve('test/nodes/node_modules', name, 'bin');
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
  const child = spawn(
    `${folder}/node`,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=minimal', '--maxWorkers', '2', ...tests],
    { env },
  );
  const printed = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => printed.push(piece));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat([Buffer.from(`\n${name}\n`), ...printed]));
      done(code ?? 1);
    });
  });
}

const others = files.filter((file) => !wholeMachine.includes(file));
const codes = await Promise.all(names.map((name) => testsOn(name, others)));
for (const name of names) codes.push(await testsOn(name, wholeMachine));
process.exitCode = Math.max(...codes);
