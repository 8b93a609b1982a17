import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { commands } from '../scripts/docs/commands.ts';
import { manFile, manPage } from '../scripts/docs/man.ts';
import { variables } from '../scripts/docs/variables.ts';
import { flags } from '../src/pilot-agent/config/flags.ts';
import { logFlags } from '../src/shared/log/log-flags.ts';
import { exitCodes } from '../src/shared/program/exit.ts';
import { leftOut } from './support/left-out.ts';
import { read } from './support/source-text.ts';

const page = manPage();
/** The terms and the headings of the page, without what makes them bold. */
const terms = page
  .split('\n')
  .flatMap((line, index, lines) =>
    lines[index - 1] === '.TP' || line.startsWith('.SS ') ? [line] : [],
  );
const plain = terms.map((line) =>
  line
    .replace(/^\.SS "(.*)"$/, '$1')
    .replace(/\\f[BIR]/g, '')
    .replaceAll('\\-', '-'),
);
const has = (word: string) =>
  plain.some(
    (line) => line === word || line.startsWith(`${word} `) || line.split(', ').includes(word),
  );

/** Skips a test, and reports that, if a program is missing. */
const needs = (name: string) => {
  const isThere = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  if (!isThere) leftOut(`the man page as ${name} reads it`, 'a program');
  return it.skipIf(!isThere);
};

describe('the man page', () => {
  it('is as the code is now: npm run docs has written it', () => {
    expect(read(manFile)).toBe(page);
  });

  it('is in the package, where npm finds it', () => {
    expect(packageJson.man).toBe(manFile);
    expect(packageJson.files).toContain('man');
  });

  it('has each command, flag, variable and exit code', () => {
    const all = [
      ...commands().keys(),
      ...Object.keys({ ...flags, ...logFlags }).map((name) => `--${name}`),
      ...Object.values(variables).flatMap((group) => group.map(({ name }) => name)),
      ...Object.values(exitCodes).map(String),
    ];
    expect(all.length).toBeGreaterThan(150);
    expect(all.filter((word) => !has(word))).toEqual([]);
  });

  needs('mandoc')('is what mandoc has nothing against', () => {
    expect(spawnSync('mandoc', ['-T', 'lint', manFile], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  needs('man')('is what man shows without a warning, in 80 columns', () => {
    const env = {
      ...process.env,
      LC_ALL: 'C.UTF-8',
      MANWIDTH: '80',
      MANPAGER: 'cat',
      MAN_KEEP_FORMATTING: '',
    };
    const { status, stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', manFile], {
      env,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain('\n       pilot-agent - runs and hot-restarts one Envoy proxy\n');
  });
});
