import * as fc from 'fast-check';
import { mergeMessages, mergeOverride } from '../../../src/proxy/merge-override.ts';
import { fuzzed, textOf } from '../parser.ts';

const over = (override: string) =>
  mergeOverride({
    kind: 'generated',
    text: '{"admin":{"a":[1]},"node":{"metadata":{}}}',
    extension: '.json',
    override,
  });
const fields = fc.dictionary(
  fc.constantFrom('a', 'adminAddress', 'pipe', 'port_value', 'metadata', '__proto__', '@type'),
  fc.jsonValue(),
);

export const overrides = [
  fuzzed({
    name: 'overrides',
    inputs: textOf(
      'admin',
      'node',
      ': ',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '&a ',
      '*a',
      '"',
      "'",
      '!x ',
      '---',
      '<<',
      '0x',
      '\t',
      '#',
    ),
    parse: over,
    size: 200,
    growing: {
      keys: (size) => Array.from({ length: size }, (_, index) => `k${index}: 1\n`).join(''),
      'keys that are the same': (size) => 'a: 1\n'.repeat(size),
      'a list': (size) => `admin: {a: [${'1, '.repeat(size)}]}`,
      digits: (size) => `a: ${'1'.repeat(size)}`,
      aliases: (size) => `a: &a [1]\nb: [${'*a, '.repeat(size)}]`,
      blanks: (size) => `a: ${' '.repeat(size)}!`,
    },
  }),
  fuzzed({
    name: 'messages that are merged',
    inputs: fc.tuple(fields, fields),
    parse: ([base, above]) => mergeMessages(base, above),
    growing: {
      'keys in two forms': (size) => {
        const keys = Array.from({ length: size }, (_, index) => index);
        const named = (name: string): Readonly<Record<string, number>> =>
          Object.fromEntries(keys.map((key) => [`${name}${key}`, 1]));
        const pair: [Readonly<Record<string, number>>, Readonly<Record<string, number>>] = [
          named('a_b'),
          named('aB'),
        ];
        return pair;
      },
    },
  }),
];
