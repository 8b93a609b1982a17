import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { regexFlaw } from '../../../../src/shared/text/regex-flaw.ts';
import { anyText } from '../../../golden/arbitrary-inputs.ts';

describe('regexFlaw', () => {
  // Envoy 1.36 was asked about each of these; bootstrap-envoy.test.ts asks it about arbitrary ones.
  it.each([
    ...[
      'abc',
      'é☃',
      '.*',
      'a|b||',
      '()',
      '(?:a)',
      '(?i)a',
      '(?i:a)',
      '(?imsU)a',
      '(?-i)a',
      '(?i-s:a)',
      '(?P<n>a)',
      '(?<n>a)',
      '((((a))))',
    ],
    ...[
      'a*',
      'a+?',
      'a??',
      'a{2}',
      'a{2,}',
      'a{2,5}',
      'a{1000}',
      '(a{100}){10}',
      'a{0}',
      'a{,5}',
      'a{2',
      '{',
      '}',
      ']',
      '^*',
      '\\b+',
    ],
    ...[
      '[abc]',
      '[^abc]',
      '[]a]',
      '[^]a]',
      '[a-z]',
      '[a-]',
      '[-a]',
      '[a-b-c]',
      '[--a]',
      '[[a]',
      '[\\w.-]',
      '[z\\d]',
      '[[:alpha:]_]',
      '[[:^digit:]]',
    ],
    ...[
      '\\d\\D\\s\\S\\w\\W',
      '\\A\\b\\B\\z',
      '\\a\\f\\t\\n\\r\\v',
      '\\.\\*\\-\\_\\/',
      '\\x41\\x{1f60}',
      '\\0\\012\\377',
      '\\pL',
      '\\p{Lu}',
      '\\P{^Nd}',
    ],
    'listener\\..+\\.http\\..+\\.downstream_rq_completed',
  ])('takes %s', (expression) => {
    expect(regexFlaw(expression)).toBeUndefined();
  });

  it.each([
    ['', 'it is empty'],
    ['(a', 'a ) is missing'],
    ['a)', 'a ( is missing'],
    ['*a', 'a repetition has nothing to repeat'],
    ['a|*', 'a repetition has nothing to repeat'],
    ['(?i)*', 'a repetition has nothing to repeat'],
    ['a**', 'a repetition is repeated'],
    ['a*??', 'a repetition is repeated'],
    ['a{2}{3}', 'a repetition is repeated'],
    ['a{5,2}', 'a repetition ends before it begins'],
    ['a{1001}', 'it repeats more than 1000 times'],
    ['a{1001,}', 'it repeats more than 1000 times'],
    ['(a{100}){11}', 'it repeats more than 1000 times'],
    ['((a{10}){0,10}){11,}', 'it repeats more than 1000 times'],
    ['.{1000}'.repeat(5), 'it is too large'],
    ['\\pL{1000}', 'it is too large'],
    ['('.repeat(101) + 'a' + ')'.repeat(101), 'it is nested too deeply'],
    ['[z-a]', 'the range z-a ends before it begins'],
    ['[a--]', 'the range a-- ends before it begins'],
    ['[a', "'[a' is not known to RE2"],
    ['[]', "'[]' is not known to RE2"],
    ['[^]', "'[^]' is not known to RE2"],
    ['[a\\]', "'[a\\]' is not known to RE2"],
    ['[[:foo:]]', "'[:fo' in [] is not known to RE2"],
    ['[a-\\d]', "'a-\\d' in [] is not known to RE2"],
    ['x\\', "'\\' is not known to RE2"],
    ['(?=a)', "'(?=a' is not known to RE2"],
    ['(?!a)', "'(?!a' is not known to RE2"],
    ['(?<=a)', "'(?<=' is not known to RE2"],
    ['(?>a)', "'(?>a' is not known to RE2"],
    ['\\1', "'\\1' is not known to RE2"],
    ['\\Z', "'\\Z' is not known to RE2"],
    ['\\u0041', "'\\u00' is not known to RE2"],
    ['\\x4', "'\\x4' is not known to RE2"],
    ['\\p{Zz}', "'\\p{Z' is not known to RE2"],
  ])('says what is wrong with %s', (expression, flaw) => {
    expect(regexFlaw(expression)).toBe(flaw);
  });

  it.each(['\\Qa.b\\E', '\\C', '\\p{Greek}', '\\x{10FFFF}', '[\\d-z]', '[\\pL]', '(?)'])(
    'refuses %s too, though RE2 would not',
    (expression) => {
      expect(regexFlaw(expression)).toMatch(/is not known to RE2$/);
    },
  );

  it('never throws, and is quick', () => {
    fc.assert(
      fc.property(anyText, (text) => ['string', 'undefined'].includes(typeof regexFlaw(text))),
    );
    expect(regexFlaw('(a|b)*'.repeat(20_000))).toBe('it is too large');
    expect(regexFlaw('['.repeat(100_000))).toMatch(/is not known to RE2$/);
  });
});
