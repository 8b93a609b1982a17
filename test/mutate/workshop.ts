import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { type Mutant, mutated } from './mutant.ts';
import { importersOf, reachedTests } from './reached-tests.ts';

export type Verdict = 'killed' | 'timed out' | 'survived';

const leftOut = ['.git', 'node_modules', 'coverage'];
/** The time limit of the tests of a mutant, in ms. A mutant that takes longer counts as killed. */
const mutantLimit = 300_000;
/** The time limit of all tests without a mutant, in ms. */
const wholeLimit = 3_600_000;

/** A copy of the tree, in which one mutant at a time is tried. */
export interface Workshop {
  /** Runs all tests without a mutant. */
  tryWhole(): Promise<Verdict>;
  /**
   * Runs the tests that depend on the file of the mutant, the nearest first, until one fails.
   * Restores the file before it resolves.
   */
  try(mutant: Mutant): Promise<Verdict>;
  clear(): void;
}

export function workshop(): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-mutate-'));
  cpSync('.', folder, {
    recursive: true,
    filter: (path) => !leftOut.includes(basename(path)) || relative('.', path).includes('/'),
  });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const importers = importersOf();
  return {
    tryWhole: () => run(folder, ['run'], wholeLimit),
    async try(mutant) {
      const path = join(folder, 'src', mutant.file);
      const code = readFileSync(path, 'utf8');
      writeFileSync(path, mutated(code, mutant) ?? code);
      try {
        const tests = reachedTests(join('src', mutant.file), importers);
        if (tests.length === 0) return 'survived';
        return await run(folder, ['run', ...tests, '--bail=1'], mutantLimit, tests);
      } finally {
        writeFileSync(path, code);
      }
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs Vitest in a process group of its own, and kills the group at the time limit. */
function run(
  folder: string,
  args: readonly string[],
  limit: number,
  order: readonly string[] = [],
): Promise<Verdict> {
  return new Promise((done, fail) => {
    const vitest = resolve('node_modules/vitest/vitest.mjs');
    const given = [
      vitest,
      ...args,
      '--config',
      'test/mutate/vitest.config.ts',
      '--root',
      folder,
      '--reporter=dot',
    ];
    const child = spawn(process.execPath, given, {
      cwd: folder,
      env: { ...process.env, TESTS_IN_ORDER: order.join(' ') },
      stdio: 'ignore',
      detached: true,
    });
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, limit);
    child.on('error', fail);
    child.on('close', (code) => {
      clearTimeout(timer);
      done(isOver ? 'timed out' : code === 0 ? 'survived' : 'killed');
    });
  });
}
