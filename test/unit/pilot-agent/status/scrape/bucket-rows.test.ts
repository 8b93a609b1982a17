import { assert, describe, expect, it } from 'vitest';
import { bucketRows } from '../../../../../src/pilot-agent/status/scrape/bucket-rows.ts';
import { parseSample } from '../../../../../src/pilot-agent/status/scrape/parse-sample.ts';

const first = 'm_bucket{a="b",le="1.0"} 1';

function rowAfter(line: string) {
  const sample = parseSample(first) ?? assert.fail('no sample');
  const text = Buffer.from(`${line}\n`);
  return bucketRows()(sample, text, 0)?.(text, 0);
}

describe('bucketRows', () => {
  it('reads a row that differs in le and in its value', () => {
    expect(rowAfter('m_bucket{a="b",le="2.0"} 123456789012345')).toMatchObject({
      row: { bound: 2, value: 123_456_789_012_345 },
    });
  });

  it.each([
    ['a number that a double cannot have', 'm_bucket{a="b",le="2.0"} 9007199254740993'],
    ['no digits', 'm_bucket{a="b",le="2.0"} '],
    ['a fraction', 'm_bucket{a="b",le="2.0"} 1.5'],
    ['another label', 'm_bucket{a="c",le="2.0"} 1'],
    ['a label after le', 'm_bucket{a="b",le="2.0",z="1"} 1'],
  ])('leaves %s to the parser', (_, line) => expect(rowAfter(line)).toBeUndefined());
});
