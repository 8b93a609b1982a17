import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { mutated } from './mutant.ts';

describe('the mutants', () => {
  it('have ids of their own', () => {
    const ids = mutants.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it.each(mutants)('$id: its text is exactly once in its file, and what comes out parses', async (mutant) => {
    expect(mutant.find).not.toMatch(/\n/);
    const code = mutated(readFileSync(join('src', mutant.file), 'utf8'), mutant) ?? '';
    expect(code).not.toBe('');
    await expect(transform(code, { loader: 'ts' })).resolves.toBeDefined();
  });
});
