import { expect, it } from 'vitest';
import { findTools } from '../../src/run/prepare.ts';

const warningsOf = (path: string | undefined, pid: number): readonly string[] => {
  const warnings: string[] = [];
  findTools(path, pid, (text) => warnings.push(text));
  return warnings;
};

it('finds the programs that take part in a start, and has nothing to say', () => {
  expect(warningsOf(process.env['PATH'], 4711)).toEqual([]);
});

it('says for each that is missing what is lost', () => {
  expect(warningsOf('/proc/self/fdinfo', 4711).map((text) => text.split(' ')[0])).toEqual(['setpriv', 'sh', 'mkfifo']);
});

it('says what process 1 cannot do, and what to put before it', () => {
  expect(warningsOf(process.env['PATH'], 1)).toEqual([expect.stringMatching(/zombies: put a small init before it/)]);
});
