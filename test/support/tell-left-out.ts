import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { LeftOut, Need } from './left-out.ts';

const because: Readonly<Record<Need, string>> = {
  root: 'this machine does not permit it',
  'a program': 'its program is not to be had here',
};

/**
 * Returns a line for each test that a run left out, and whether the run fails because of them. On
 * CI, no test that needs only root may be left out. Pure.
 */
export function toldLeftOut(
  all: readonly LeftOut[],
  isCi: boolean,
): { readonly lines: readonly string[]; readonly fails: boolean } {
  const named = new Set(all.map(({ what, need }) => `Left out, for ${because[need]}: ${what}`));
  const fails = isCi && all.some(({ need }) => need === 'root');
  const verdict =
    'The run fails: CI is set, and a machine of CI permits what needs only root, mounts, namespaces and control groups.';
  return { lines: [...named, ...(fails ? [verdict] : [])], fails };
}

/** Collects the tests that a run leaves out, and prints them at its end. */
export default function tellLeftOut(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-left-out-'));
  const file = join(folder, 'left-out');
  project.provide('leftOut', file);
  return () => {
    const records = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    rmSync(folder, { recursive: true });
    const { lines, fails } = toldLeftOut(
      records.map((record) => JSON.parse(record) as LeftOut),
      (process.env['CI'] ?? '') !== '',
    );
    if (lines.length > 0) process.stdout.write(`\n${lines.join('\n')}\n`);
    if (fails) process.exitCode = 1;
  };
}
