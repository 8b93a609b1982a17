import { execFileSync } from 'node:child_process';

/** The name of the small program that an agent looks for beside itself. */
export const guard = 'pilot-agent-guard';

const compilers = {
  x64: ['x86_64-linux-gnu-gcc', 'gcc', 'cc'],
  arm64: ['aarch64-linux-gnu-gcc', 'gcc', 'cc'],
};
/** A compiler without a target in its name compiles for this machine. */
const compilersFor = (arch) =>
  compilers[arch].filter((name) => arch === process.arch || name.includes('linux-gnu'));
const alone = [
  '-static',
  '-nostdlib',
  '-ffreestanding',
  '-fno-stack-protector',
  '-fno-tree-loop-distribute-patterns',
];
const small = [
  '-Os',
  '-s',
  '-fno-asynchronous-unwind-tables',
  '-Wl,--build-id=none',
  '-Wl,-z,noexecstack',
];

/** Whether this machine has a C compiler for an architecture. */
export function canBuildGuard(arch = process.arch) {
  return compilerFor(arch) !== undefined;
}

/** Compiles `native/pilot-agent-guard.c` into a file. Throws if there is no compiler. */
export function buildGuard(file, arch = process.arch) {
  const compiler = compilerFor(arch);
  if (compiler === undefined)
    throw new Error(
      `no compiler of C for ${arch}: ${compilers[arch].join(', ')} are not in PATH; npm run pretest installs one`,
    );
  execFileSync(
    compiler,
    [...alone, ...small, '-Wall', '-Wextra', '-Werror', '-o', file, 'native/pilot-agent-guard.c'],
    {
      stdio: 'inherit',
    },
  );
}

function compilerFor(arch) {
  return compilersFor(arch).find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}
