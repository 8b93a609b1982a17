import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { drawMutants, editsOf } from './draw-mutants.ts';
import { mutants } from './mutants.ts';
import { mutated } from './mutant.ts';
import { overRealServers, reachedTests } from './reached-tests.ts';
import { report } from './report.ts';

describe('the mutants', () => {
  it('have ids of their own', () => {
    const ids = mutants.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it.each(mutants)(
    '$id: its text is exactly once in its file, and what comes out parses',
    async (mutant) => {
      expect(mutant.find).not.toMatch(/\n/);
      const code = mutated(readFileSync(join('src', mutant.file), 'utf8'), mutant) ?? '';
      expect(code).not.toBe('');
      await expect(transform(code, { loader: 'ts' })).resolves.toBeDefined();
    },
  );
});

describe('drawn mutants', () => {
  const isChosen = (path: string) => /^pilot-discovery\/(?:istio|push)\//.test(path);

  it('are one mistake of one word each', () => {
    const code = 'if (a === 1) b ?? [...c].some((x: true) => !x);';
    expect(
      editsOf(code).map(
        ({ start, end, replace }) => code.slice(0, start) + replace + code.slice(end),
      ),
    ).toEqual([
      'if (!(a === 1)) b ?? [...c].some((x: true) => !x);',
      'if (false) b ?? [...c].some((x: true) => !x);',
      'if (((a) !== (1))) b ?? [...c].some((x: true) => !x);',
      'if (a === (1 + 1)) b ?? [...c].some((x: true) => !x);',
      'if (a === 1) ((b) && ([...c].some((x: true) => !x)));',
      'if (a === 1) b ?? [...c].every((x: true) => !x);',
      'if (a === 1) b ?? [...[]].some((x: true) => !x);',
      'if (a === 1) b ?? [...c].some((x: true) => x);',
    ]);
  });

  it('are the same ones for a seed, and parse', async () => {
    const drawn = drawMutants(isChosen, 100, 1);
    expect(drawMutants(isChosen, 100, 1)).toEqual(drawn);
    expect(drawMutants(isChosen, 100, 2)).not.toEqual(drawn);
    expect(new Set(drawn.map(({ file }) => file)).size).toBeGreaterThan(40);
    for (const mutant of drawn) {
      const code = mutated(readFileSync(join('src', mutant.file), 'utf8'), mutant) ?? '';
      await expect(transform(code, { loader: 'ts' }), mutant.id).resolves.toBeDefined();
    }
  });
});

describe('reachedTests', () => {
  it('has the tests named after a file first, then marbles, then the nearest, none over real servers', () => {
    const named = 'test/unit/b.more.test.ts';
    const importers = new Map([
      ['src/a/b.ts', ['src/a/c.ts', 'test/unit/a/near.test.ts']],
      [
        'src/a/c.ts',
        ['test/unit/a/c.test.ts', 'test/marbles/m.test.ts', 'src/a/b.ts', named, overRealServers],
      ],
      ['src/a/d.ts', ['test/unit/a/d.test.ts']],
    ]);
    expect(reachedTests('src/a/b.ts', importers)).toEqual([
      named,
      'test/marbles/m.test.ts',
      'test/unit/a/near.test.ts',
      'test/unit/a/c.test.ts',
    ]);
  });
});

describe('the report', () => {
  const mutant = { id: 'a/one', file: '', find: '', replace: '' };

  it('counts by folder and in all, and says of a survivor why no test finds it, if that is known', () => {
    const page = report(
      ['# Mutants', ''],
      [
        { mutant, verdict: 'killed' },
        { mutant: { ...mutant, id: 'a/two' }, verdict: 'survived' },
        { mutant: { ...mutant, id: 'b/three', explained: 'It is the same.' }, verdict: 'survived' },
        { mutant: { ...mutant, id: 'b/four', explained: 'It is found.' }, verdict: 'timed out' },
        { mutant: { ...mutant, id: 'c/five' }, verdict: 'not tried' },
      ],
    );
    expect(page).toContain('| `c` | 1 | 0 | 0 | 0 | 1 | – |');
    expect(page).toContain('| in all | 5 | 2 | 1 | 2 | 1 | 50 % |');
    expect(page).toContain(
      '## Survivors\n\n- `a/two`\n- `b/three`: It is the same.\n\n## Timed out\n\n- `b/four`\n',
    );
  });
});
