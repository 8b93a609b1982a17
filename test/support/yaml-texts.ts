import * as fc from 'fast-check';
import { stringify } from 'yaml';

/** Scalars and pieces that YAML parsers have read differently, or might read differently. */
const pieces = [
  'a',
  'b',
  'key',
  'true',
  'null',
  'True',
  '~',
  '1',
  '-1',
  '0',
  '-0',
  '1.5',
  '-0.0',
  '1e3',
  '0x1f',
  '010',
  '0o17',
  '1_000',
  '1:30',
  '2001-01-01',
  '10.0.0.1',
  '10s',
  '99999999999999999999',
  '"q"',
  "'s'",
  '"a\\\\n"',
  '"\\/"',
  '"\\u0041"',
  '"\\x41"',
  "'it''s'",
  '"a: b"',
  'x y',
  'x  y',
  'http://h',
  'a:b',
  'a#b',
  '# c',
  ' # c',
  'yes',
  'no',
  '<<',
  '*a',
  '&a',
  '!t',
  '|',
  '>',
  '%a',
  '@',
  '`',
  '?',
  '- ',
  '-',
  '-a',
  '--',
  '---',
  '...',
  '.5',
  '.',
  '.inf',
  '+1',
  '+a',
  '^/x$',
  '(a)',
  '$h',
  '{}',
  '[]',
  '{a: 1}',
  '[a, b]',
  '{ a: 1, b: [x] }',
  '{"a":1}',
  '{a:1}',
  '{a: b:c}',
  '[a: b]',
  '[a, ]',
  '[,]',
  '{a}',
  '{a: }',
  '"k"',
  '__proto__',
  'constructor',
  '1:',
  '"1"',
  'kind',
  '\\',
  'a,b',
  'a[0]',
  'a}',
  '=',
  'é',
  'ré é',
  '# é',
  '"é 🙂"',
  '\u00a0',
  'a\u00a0',
  '\u2028',
  '\u0085',
  '\ufeff',
  '\ud800',
  '\t',
  '\r',
];
const keys = ['a', 'b', 'c', 'k.x/y-z', '"q k"', "'s'", 'true', '1', 'x y', 'a-b', '__proto__'];

const indent = fc.integer({ min: 0, max: 4 }).map((width) => ' '.repeat(width));
const joined = (...parts: readonly fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(''));
const member = joined(
  indent,
  fc.constantFrom('', '- ', '-   ', '- - '),
  fc.constantFrom(...keys),
  fc.constantFrom(': ', ':', ':  ', ' : ', '"'),
  fc.constantFrom('', '', '', ...pieces),
  fc.constantFrom('', '', '', ' ', ' # c', '#', ': x', ', '),
);
const item = joined(
  indent,
  fc.constantFrom('- ', '-', '', '  - '),
  fc.constantFrom(...pieces),
  fc.constantFrom('', '', ' ', ' #x'),
);
const signs = ['{', '}', '[', ']', ',', ', ', ':', ': ', '\n', '\n ', '"', "'"];
const brackets = joined(
  indent,
  fc.array(fc.constantFrom(...pieces, ...signs), { maxLength: 6 }).map((parts) => parts.join('')),
);
const gap = fc.constantFrom('', '  ', '# c', '   # c', '---', '...', '%YAML 1.1');
const line = fc.oneof(
  { weight: 6, arbitrary: member },
  { weight: 2, arbitrary: item },
  brackets,
  gap,
);

/** Lines that are sometimes good YAML. */
const ragged = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));

const leaf = fc.oneof(
  fc.constantFrom(...pieces),
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...pieces, 'name', 'spec'), fc.string()), tie('value'), {
      maxKeys: 4,
    }),
  ),
}));
const style = fc.record({
  indent: fc.integer({ min: 1, max: 4 }),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any', 'flow', 'block'),
  defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'),
  defaultKeyType: fc.constantFrom(null, 'PLAIN', 'QUOTE_DOUBLE'),
  lineWidth: fc.constantFrom(0, 20, 80),
  flowCollectionPadding: fc.boolean(),
});
const map = fc.dictionary(fc.constantFrom('apiVersion', 'kind', 'spec', ...pieces), value, {
  minKeys: 1,
  maxKeys: 4,
});

/** Good YAML in many styles, and JSON. */
const styled = fc.oneof(
  fc.tuple(map, style).map(([value, options]) => stringify(value, options)),
  fc.tuple(map, fc.constantFrom(0, 2)).map(([value, space]) => JSON.stringify(value, null, space)),
);

/** The same texts with one edit: a piece is inserted, or replaces a character. */
const edited = fc
  .tuple(
    styled,
    fc.nat(),
    fc.constantFrom(
      '',
      ' ',
      '  ',
      '\n  ',
      '\n# c\n',
      '\n---\n',
      '\n...\n',
      '- ',
      ' #',
      '.',
      '&',
      '*',
      '|',
      '\\',
      'a',
      '1',
      ...signs,
    ),
    fc.boolean(),
  )
  .map(([text, place, sign, instead]) => {
    const offset = place % (text.length + 1);
    return `${text.slice(0, offset)}${sign}${text.slice(instead ? offset + 1 : offset)}`;
  });

/** Texts: good YAML in many styles, nearly good YAML, and some that are not YAML. */
export const yamlTexts: fc.Arbitrary<string> = fc.oneof(ragged, styled, edited);
