import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dumpNoMemory } from '../../../../src/shared/program/dump-no-memory.ts';

it('writes an empty filter, or says why it cannot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-dump-'));
  const file = join(folder, 'coredump_filter');
  writeFileSync(file, '');
  expect(dumpNoMemory(file)).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe('0');
  expect(dumpNoMemory(join(folder, 'none', 'file'))).toMatch(/ENOENT/);
  rmSync(folder, { recursive: true });
});
