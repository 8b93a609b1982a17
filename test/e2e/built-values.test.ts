import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { program } from '../support/e2e/program.ts';

/** The parts that the launcher runs. Each has a code cache beside it. */
const parts = readdirSync('dist')
  .filter((name) => name.endsWith('.cjs.cache'))
  .map((name) => name.replace(/\.cache$/, ''));
const [node, ...launcher] = program;

/** Returns what `config print` prints for these flags; if it fails, its exit code and stderr. */
function printed(...flags: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(
    node,
    [...launcher, 'config', 'print', '--output', 'json', ...flags],
    { encoding: 'utf8' },
  );
  return status === 0 ? stdout : `${String(status)}: ${stderr}`;
}

describe('the built program', () => {
  it('has parts', () => {
    expect(parts).toContain('main.cjs');
  });

  it.each(parts)('is ASCII, for the launcher reads it as Latin-1: %s', (part) => {
    expect(/[^\0-\x7f]/.exec(readFileSync(`dist/${part}`, 'utf8'))?.[0]).toBeUndefined();
  });

  it.each(['1500000µs', '1500000μs', '1500000us', '1500000000ns', '1500ms', '1.5s'])(
    'takes %s for a second and a half',
    (duration) => {
      expect(printed('--drainDuration', duration)).toBe(printed('--drainDuration', '1s500ms'));
    },
  );

  it.each(['500µs', '500μs', '500us', '1ns'])(
    'takes %s, which is less than it counts',
    (duration) => {
      expect(printed('--drainDuration', duration)).toMatch(/^\{/);
    },
  );

  it('takes each value that the page of flags has', () => {
    const rows = [
      ...readFileSync('docs/reference/flags.md', 'utf8').matchAll(
        /^\| `(--\w+)[^`]*` \| .* \| `([^`]+)` \| /gm,
      ),
    ];
    const flags = rows.map(([, flag = '', value = '']) => `${flag}=${value}`);
    expect(flags.length).toBeGreaterThan(30);
    expect(printed(...flags)).toMatch(/^\{/);
  });
});
