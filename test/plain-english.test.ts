import { Linter, type Rule } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import {
  medianWords,
  plainComments,
  plainStrings,
  proseFlaws,
  sayingNames,
} from '../scripts/plain-english.mjs';

const reasons = (markdown: string) => proseFlaws(markdown).map(({ reason }) => reason);

describe('the check of plain English', () => {
  it.each([
    'Of what may not be called: it has no endpoint.',
    'What a proxy refuses is not sent again.',
    'Where no Envoy serves, one is started.',
    'That which is not served stays.',
    'All that what it is given depends on.',
    'The agent reads the token anew.',
    'The cluster is not needed any more.',
    'It waits so many ms.',
    'It would wait for ever.',
    'The failure is told once.',
    'A parent is told of its child.',
    'It is read-only, but for one folder.',
    'The agent starts again by itself.',
    'Whoever may write the folder decides.',
    'An agent starts one where it may.',
    'One is made where there is none.',
    'The answer is no JSON.',
    'These are no names of headers.',
    `${'word '.repeat(46)}ends.`,
  ])('finds one flaw or more in: %s', (sentence) => {
    expect(reasons(`Envoy serves. ${sentence}`)).not.toEqual([]);
  });

  it.each([
    'If no Envoy serves, the agent starts one.',
    'What does the agent watch?',
    'Each line shows a value and where it comes from.',
    'The first sentence says where it is.',
    'The parent is told to drain.',
    'There is no parent, and the agent is no longer ready.',
    'The agent knows what Envoy needs.',
    '`Of what` and `anew` are code.',
    '## What it does\n\n## Where it is',
    '| What | Of a server |\n| --- | --- |\n| What Envoy reads | Where Envoy listens |',
    '```sh\nWhere it may, anew\n```',
    'A [link](where-it-may.md#of-what) is text.',
    '<!-- Of what may not be called. -->',
    `\`${'a '.repeat(50)}\` is code.`,
  ])('finds nothing in: %s', (markdown) => {
    expect(proseFlaws(markdown)).toEqual([]);
  });

  it('looks for marker phrases in the cells of a table, also of one that is indented', () => {
    const table = '| A | B |\n| --- | --- |\n| Envoy | is read anew |\n';
    expect(reasons(table)).toHaveLength(1);
    expect(reasons(table.replace(/^/gm, '  '))).toHaveLength(1);
  });

  it('joins the lines of a paragraph and of an item, and says in which line it begins', () => {
    const markdown =
      '# Title\n\nThe cluster is not\nneeded any more.\n\n- An item\n- Of what\n  is left.\n';
    expect(proseFlaws(markdown)).toMatchObject([
      { line: 3, sentence: 'The cluster is not needed any more.' },
      { line: 7, sentence: 'Of what is left.' },
    ]);
  });

  it('takes the median of the words in a sentence, without code and tables', () => {
    expect(
      medianWords(
        'One two. One two three. `code` one two three four.\n\n| One |\n| --- |\n| Two |\n',
      ),
    ).toBe(3);
    expect(medianWords('# Title\n')).toBe(0);
  });
});

const linesWithFlaws = (rule: Rule.RuleModule, lines: readonly string[]) => [
  ...new Set(
    new Linter()
      .verify(
        lines.join('\n'),
        {
          files: ['**/*.ts'],
          plugins: { local: { rules: { plain: rule } } },
          languageOptions: { parser: tseslint.parser },
          rules: { 'local/plain': 'error' },
        },
        'some.ts',
      )
      .map(({ line }) => line),
  ),
];

describe('the lint of comments', () => {
  it('finds a flaw in each kind of comment, at its line', () => {
    expect(
      linesWithFlaws(plainComments, [
        '/** Of what may not be called. */',
        'export const port = 80; // Where no Envoy serves, one is started.',
        '/**',
        ' * The port.',
        ' *',
        ' * @param port it is read anew',
        ' */',
        '/* Whoever asks. */',
      ]),
    ).toEqual([1, 2, 6, 8]);
  });

  it('reads the lines of a comment as one text, and no code, link or string', () => {
    expect(
      linesWithFlaws(plainComments, [
        '// The cluster is not',
        '// needed any more.',
        '/** Returns `anew`, as {@link whoever} says. */',
        "export const told = 'anew'; // The second",
        '// Of what is left.',
      ]),
    ).toEqual([1, 5]);
  });
});

describe('the lint of strings', () => {
  it('finds a flaw in each kind of string, at its line', () => {
    expect(
      linesWithFlaws(plainStrings, [
        "const plain = 'The cluster is not needed any more';",
        'const made = `${name} is read anew by the agent`;',
        'const parts = `Where there is no ${name}, one is made`;',
      ]),
    ).toEqual([1, 2, 3]);
  });

  it('finds nothing in names, code, long texts and comments', () => {
    expect(
      linesWithFlaws(plainStrings, [
        "import { anew } from './told.ts'; // read anew by it",
        "const name = 'anew';",
        'const made = `it has ${whoever(anew)} and more`;',
        "const named = 'set `anew` to true';",
        `const script = '${'word '.repeat(46)}ends';`,
      ]),
    ).toEqual([]);
  });
});

it('the lint of names finds variables, parameters, functions, and members that say nothing', () => {
  expect(
    linesWithFlaws(sayingNames, [
      'const found = 1;',
      'const double = (one: number) => one * 2;',
      'const { at } = { at: 2 };',
      'const { of: port } = { of: 80 };',
      'export const counts = { found, at, port, made: double(1) };',
      'function told([held, ...its]: number[]) { return [held, its]; }',
      'const known$ = port;',
      'interface Epoch { readonly known: string; readonly asked$: string; readonly at: number }',
    ]),
  ).toEqual([1, 2, 3, 6, 7, 8]);
});

it('the lint of names leaves the test helper `at` alone', () => {
  expect(linesWithFlaws(sayingNames, ['function at(time: string) { return time; }'])).toEqual([]);
});
