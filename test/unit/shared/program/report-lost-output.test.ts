import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { Fatal } from '../../../../src/shared/program/exit.ts';
import { reportLostOutput } from '../../../../src/shared/program/report-lost-output.ts';

/** Writes a text to an output that fails with a code, and returns what was reported. */
async function reportedAfter(code: string): Promise<readonly Fatal[]> {
  const reported: Fatal[] = [];
  const output = new Writable({
    write: (_, __, done) => done(Object.assign(new Error(`${code}: it failed`), { code })),
  });
  const written = reportLostOutput(output, (failure) => reported.push(failure));
  output.write('a text');
  await written();
  return reported;
}

it('a full disk ends a program with 69 and the reason', async () => {
  expect(await reportedAfter('ENOSPC')).toEqual([
    new Fatal('the output cannot be written: ENOSPC: it failed', 69),
  ]);
});

it('a reader that is gone is not a failure', async () => {
  expect(await reportedAfter('EPIPE')).toEqual([]);
});
