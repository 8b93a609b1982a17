import { describe, expect, it } from 'vitest';
import { failedStages, leftOutLines, type Outcome } from '../../../scripts/check/stage.ts';

function outcome(name: string, code: number, text: string): Outcome {
  const again = `npm run ${name}`;
  return { stage: { name, command: [], again, output: 'if it fails' }, code, text };
}

describe('the lines that end a failing run', () => {
  it('name each stage that has failed, and the command that repeats it', () => {
    const outcomes = [outcome('lint', 1, 'x.ts: 1 error'), outcome('format', 0, '')];
    expect(failedStages(outcomes)).toEqual(['Failed: lint', '  again: npm run lint']);
  });

  it('are those of the tests that have failed if the stage has named them', () => {
    const text = 'much\n\nFailed: a.test.ts > b\n  again: npx vitest run a.test.ts -t b\n';
    expect(failedStages([outcome('tests', 1, text), outcome('lint', 2, '')])).toEqual([
      'Failed: a.test.ts > b',
      '  again: npx vitest run a.test.ts -t b',
      'Failed: lint',
      '  again: npm run lint',
    ]);
  });

  it('are none if nothing has failed', () => {
    expect(failedStages([outcome('lint', 0, 'Failed: no')])).toEqual([]);
  });
});

it('a good run of tests says what it has left out', () => {
  const line = 'Left out, for this machine does not permit it: mounts';
  expect(leftOutLines(`many tests\n\n${line}\n`)).toBe(`${line}\n`);
  expect(leftOutLines('many tests\n')).toBe('');
});
