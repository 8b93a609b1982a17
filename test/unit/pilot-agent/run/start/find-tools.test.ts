import { expect, it } from 'vitest';
import type { LogLine } from '../../../../../src/shared/log/log-line.ts';
import { findTools } from '../../../../../src/pilot-agent/run/start/find-tools.ts';

const linesOf = (path: string | undefined, pid: number): readonly LogLine[] => {
  const lines: LogLine[] = [];
  findTools(path, pid, (line) => lines.push(line));
  return lines;
};

it('finds the programs that take part in a start, and has nothing to say', () => {
  expect(linesOf(process.env['PATH'], 4711)).toEqual([]);
});

it('says for each that is missing what is lost', () => {
  const lines = linesOf('/proc/self/fdinfo', 4711);
  expect(lines.map(({ msg }) => msg.split(' ')[0])).toEqual(['setpriv', 'sh', 'mkfifo']);
  for (const line of lines) expect(line).toMatchObject({ level: 'warn', event: 'tool.missing' });
});

it('says what process 1 cannot do, and what to put before it', () => {
  const msg: unknown = expect.stringMatching(/zombies: put a small init before it/);
  expect(linesOf(process.env['PATH'], 1)).toEqual([
    { level: 'warn', event: 'agent.process_one', msg },
  ]);
});
