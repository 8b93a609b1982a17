// Runs everything that `npm test` runs, and writes the time of each test file into test/timings.md.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Timing, timingsFile } from '../test/support/timings.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-timings-'));
const env = { ...process.env, TIMINGS: folder };

const parts: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['build', 'npm', 'run', 'build'],
  ['checks and tests', process.execPath, '--import', 'tsx', 'scripts/check/whole.ts'],
];

/**
 * Returns the CPU seconds of all processors since the machine started. The times of a process and
 * its children lack programs whose parent ended before them.
 */
const machineSeconds = () =>
  cpus().reduce(
    (total, { times: { user, nice, sys, irq } }) => total + user + nice + sys + irq,
    0,
  ) / 1000;

const stageTimings = parts.map(([name, command, ...args]) => {
  const [begun, before] = [performance.now(), machineSeconds()];
  const { status } = spawnSync(command, args, { env, stdio: 'inherit' });
  return {
    name,
    status,
    seconds: (performance.now() - begun) / 1000,
    cpuSeconds: machineSeconds() - before,
  };
});
const files = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Timing[],
);
rmSync(folder, { recursive: true });

const row = (name: string, seconds: number, cpu: number) =>
  `| ${name} | ${seconds.toFixed(1)} | ${cpu.toFixed(1)} |`;
const sum = (
  timings: readonly { readonly seconds: number; readonly cpuSeconds: number }[],
  key: 'seconds' | 'cpuSeconds',
) => timings.reduce((total, timing) => total + timing[key], 0);
const head = (first: string) => [`| ${first} | Seconds | CPU seconds |`, '| --- | ---: | ---: |'];

writeFileSync(
  timingsFile,
  `${[
    '# What the tests take',
    '',
    '`npm run timings` writes this page, on a machine with nothing else to do. Files run side by side, so their seconds',
    'add up to more than the run. The CPU seconds of a part are those of the machine. Those of a file include the',
    'programs that it started and that have ended; they lack a program whose parent ended before it.',
    '',
    `Measured on ${String(cpus().length)} processors with Node ${process.version.slice(1)}.`,
    '',
    ...head('Part'),
    ...stageTimings.map(({ name, seconds, cpuSeconds: cpu }) => row(name, seconds, cpu)),
    row('all', sum(stageTimings, 'seconds'), sum(stageTimings, 'cpuSeconds')),
    '',
    ...head('File'),
    ...files
      .toSorted((a, b) => b.seconds - a.seconds || (a.file < b.file ? -1 : 1))
      .map(({ file, seconds, cpuSeconds: cpu }) => row(`\`${file}\``, seconds, cpu)),
  ].join('\n')}\n`,
);
spawnSync('npx', ['prettier', '--write', timingsFile], { stdio: 'inherit' });
process.exitCode = stageTimings.some(({ status }) => status !== 0) ? 1 : 0;
