import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedSinceCommit } from '../../../scripts/check/changed-files.ts';

let folder: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], {
    cwd: folder,
    stdio: 'pipe',
  });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
function commit(): void {
  git('add', '-A');
  git('commit', '--quiet', '--message', 'm');
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-changed-'));
  git('init', '--quiet', '--initial-branch', 'main');
  for (const name of ['kept', 'edited', 'gone']) write(name, '1');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('what a check looks at if nothing is known of an earlier run', () => {
  it('is what differs from the last commit: edited, gone and new files', () => {
    commit();
    write('edited', '2');
    write('new', '1');
    rmSync(join(folder, 'gone'));
    expect(changedSinceCommit(folder)).toEqual(['edited', 'gone', 'new']);
  });

  it('is also what was committed after the upstream', () => {
    commit();
    git('branch', 'upstream');
    git('branch', '--set-upstream-to', 'upstream');
    write('edited', '2');
    commit();
    write('new', '1');
    expect(changedSinceCommit(folder)).toEqual(['edited', 'new']);
  });

  it('is everything if there is no commit', () => {
    expect(changedSinceCommit(folder)).toBe('everything');
  });
});
