import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findExecutable } from '../../../../src/pilot-agent/envoy/find-envoy.ts';

describe('findExecutable', () => {
  let folder: string;
  const file = (name: string, mode: number) => {
    const path = join(folder, name);
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };
  const path = (...names: readonly string[]) =>
    names.map((name) => (name === '' ? '' : join(folder, name))).join(':');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'find-executable-'));
    for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is the first in the order of PATH', () => {
    const second = file('b/tool', 0o755);
    file('c/tool', 0o755);
    expect(findExecutable('tool', path('a', 'b', 'c'))).toBe(second);
  });

  it('passes over a file that may not be executed, a folder, a dangling link, and folders that do not exist', () => {
    file('a/tool', 0o644);
    mkdirSync(join(folder, 'b/tool'));
    symlinkSync('nowhere', join(folder, 'c/tool'));
    expect(findExecutable('tool', path('a', 'b', 'c', 'missing'))).toBeUndefined();
  });

  it('follows a link', () => {
    symlinkSync(file('a/real', 0o755), join(folder, 'b/tool'));
    expect(findExecutable('tool', path('b'))).toBe(join(folder, 'b/tool'));
  });

  it('does not take an empty part of PATH for the working folder', () => {
    const tool = file('b/tool', 0o755);
    expect(findExecutable(relative('.', tool), '::')).toBeUndefined();
    expect(findExecutable('tool', path('', 'b', ''))).toBe(tool);
  });

  it.each([undefined, ''])('finds nothing in PATH %j', (empty) => {
    expect(findExecutable('sh', empty)).toBeUndefined();
  });
});
