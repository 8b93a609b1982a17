import { expect, it } from 'vitest';
import { parseBoolean } from '../../../../src/shared/text/value.ts';

it.each<[words: readonly string[], value: boolean | undefined]>([
  [['1', 't', 'T', 'TRUE', 'true', 'True'], true],
  [['0', 'f', 'F', 'FALSE', 'false', 'False'], false],
  [['', 'yes', 'no', 'on', 'tRUE', 'fALSE', ' true', '2'], undefined],
])('as Go has it, each of %j is %s', (words, value) => {
  expect(words.filter((text) => parseBoolean(text) !== value)).toEqual([]);
});
