// Why: docs/decisions/062-the-executable-is-node-24.md
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'postject';
import { buildProgram, parts, writeCodeCache } from './build-program.mjs';
import { buildGuard, guard } from './build-guard.mjs';
import { bundleOptions } from './bundle-options.mjs';
import { cpusToMake, makeEach } from './package-each.mjs';
import { execArgv, nodePackage } from './package-options.mjs';
import { sbom } from './sbom.mjs';

/**
 * For each CPU, the prefix of its `strip`, and the command that runs its programs on another CPU.
 */
const others = {
  x64: { triple: 'x86_64-linux-gnu', emulator: 'qemu-x86_64-static' },
  arm64: { triple: 'aarch64-linux-gnu', emulator: 'qemu-aarch64-static' },
};
const cpus = cpusToMake(process.argv.slice(2), Object.keys(others), process.arch);
const folder = 'executable';
const beside = `dist.${folder}-${process.pid}`;

function run([command, ...args], env = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (error !== undefined || status !== 0)
    throw new Error(
      `${[command, ...args].join(' ')}: ${error?.message ?? `exit code ${status}\n${stdout}${stderr}`}`,
    );
  return `${stdout}${stderr}`;
}

const megabytes = (file) => `${(statSync(file).size / 1e6).toFixed(1)} MB`;

/** Returns the folder of Node for a CPU. Installs it from its lock file if it is missing. */
function nodeOf(cpu) {
  const nodes = `scripts/package-nodes/${cpu}`;
  const installed = nodePackage(cpu);
  const wanted = JSON.parse(readFileSync(`${nodes}/package.json`, 'utf8')).dependencies[
    `node-linux-${cpu}`
  ];
  const isThere =
    existsSync(installed) &&
    JSON.parse(readFileSync(`${installed}/package.json`, 'utf8')).version === wanted;
  // Forced, because the package may be for another CPU.
  if (!isThere) run(['npm', 'ci', '--force', '--silent', '--prefix', nodes]);
  return installed;
}

/** The command that runs a program of that CPU here. */
function runner(cpu) {
  return cpu === process.arch ? [] : [others[cpu].emulator, '-L', `/usr/${others[cpu].triple}`];
}

/** Makes one file with the program and Node for a CPU, without symbols for linker and debugger. */
async function makeExecutable(cpu, { place, program }) {
  const executablePath = join(place, `pilot-agent-linux-${cpu}`);
  const node = `${nodeOf(cpu)}/bin/node`;
  run([`${others[cpu].triple}-strip`, '--strip-all', '-o', executablePath, node]);
  console.log(`Node for ${cpu}: ${megabytes(node)}, stripped ${megabytes(executablePath)}`);

  // V8 accepts only a code cache of the same Node with the same flags.
  await writeCodeCache([...runner(cpu), executablePath, ...execArgv], `${program}/pilot-agent.cjs`);

  const [main, output, config] = ['launcher.cjs', 'sea.blob', 'sea.json'].map((name) =>
    join(place, name),
  );
  await build({ ...bundleOptions, entryPoints: ['src/pilot-agent/cli/load.ts'], outfile: main });
  const assets = ['page.html', ...parts.flatMap((part) => [part, `${part}.cache`])].map((name) => [
    name,
    join(program, name),
  ]);
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output,
      execArgv,
      execArgvExtension: 'none',
      disableExperimentalSEAWarning: true,
      assets: Object.fromEntries(assets),
    }),
  );
  run([`${nodeOf(process.arch)}/bin/node`, '--experimental-sea-config', config]);
  for (const file of [main, config]) rmSync(file);
  // It warns of each section without a name, and `strip` leaves such sections.
  console.warn = () => undefined;
  await inject(executablePath, 'NODE_SEA_BLOB', readFileSync(output), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  });
  rmSync(output);
  chmodSync(executablePath, 0o755);

  const answer = run([...runner(cpu), executablePath, 'version'], {
    PILOT_AGENT_CODE_CACHE: 'check',
  });
  if (answer.includes('code cache')) throw new Error(`${executablePath}: ${answer}`);
  console.log(`${executablePath}: ${megabytes(executablePath)}`);
  return executablePath;
}

/** Compiles the guard, which lies beside the executable. */
function makeGuard(cpu, place) {
  const executablePath = join(place, `${guard}-linux-${cpu}`);
  buildGuard(executablePath, cpu);
  return executablePath;
}

const sumOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Completes the new folder, and replaces the old one with it. */
function keep(sums, program) {
  writeFileSync(join(beside, 'SHA256SUMS'), sums.join(''));
  copyFileSync('LICENSE', join(beside, 'LICENSE'));
  copyFileSync(join(program, 'THIRD-PARTY-NOTICES.txt'), join(beside, 'THIRD-PARTY-NOTICES.txt'));
  copyFileSync(`${nodeOf(process.arch)}/LICENSE`, join(beside, 'NODE-LICENSE.txt'));
  for (const name of [basename(program), ...cpus])
    rmSync(join(beside, name), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(beside, folder);
}

rmSync(beside, { recursive: true, force: true });
mkdirSync(beside);
try {
  const program = join(beside, 'program');
  const packages = await buildProgram(program);
  const versions = JSON.parse(
    run([`${nodeOf(process.arch)}/bin/node`, '-p', 'JSON.stringify(process.versions)']),
  );
  const { made: executables, failures } = await makeEach(cpus, async (cpu) => {
    const cpuFolder = join(beside, cpu);
    mkdirSync(cpuFolder);
    const executable = await makeExecutable(cpu, { place: cpuFolder, program });
    const sha256 = sumOf(executable);
    writeFileSync(
      `${executable}.cdx.json`,
      `${sbom({ folders: packages, node: nodeOf(cpu), versions, sha256 })}\n`,
    );
    const sums = [executable, makeGuard(cpu, cpuFolder)].map(
      (file) => `${sumOf(file)}  ${basename(file)}\n`,
    );
    for (const name of readdirSync(cpuFolder))
      renameSync(join(cpuFolder, name), join(beside, name));
    return sums.join('');
  });
  for (const { cpu, reason } of failures)
    console.error(`there is no executable for ${cpu}: ${reason}`);
  if (failures.length > 0) process.exitCode = 1;
  if (executables.length > 0) keep(executables, program);
} finally {
  rmSync(beside, { recursive: true, force: true });
}
