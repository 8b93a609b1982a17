import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { documentsOf } from '../../../../src/pilot-discovery/registry/files/documents.ts';
import { quickYaml } from '../../../../src/shared/text/quick-yaml.ts';
import { cases, resourceOf } from '../../../verdicts/cases.ts';
import { slowYaml, withLines } from '../../../support/slow-yaml.ts';
import { yamlTexts } from '../../../support/yaml-texts.ts';

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ya?ml|json)$/.test(name))
    .map((name) => join(folder, name));
const files = ['test/differential', 'test/verdicts', 'test/support', 'examples', 'deploy'].flatMap(
  filesIn,
);
const documents = files.flatMap((file) =>
  documentsOf(readFileSync(file)).map(({ bytes }) => bytes.toString()),
);

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

describe('whatever is read quickly is what the package yaml says', () => {
  it('of random texts', () => {
    const agrees = (text: string) => {
      const quick = quickYaml(text);
      if (quick === undefined) return;
      const slow = slowYaml(text);
      expect(withLines(quick), text).toEqual(slow && withLines(slow));
      expect(JSON.stringify(quick.value), 'the order of keys').toBe(JSON.stringify(slow?.value));
    };
    fc.assert(fc.property(yamlTexts, agrees), { numRuns: 4_000 });
  });

  it.each([
    ['the files of other tests', documents] as const,
    ['cases of verdicts', cases.map((testCase) => yaml.stringify(resourceOf(testCase)))] as const,
  ])('of %s, most of which are read quickly', (_, texts) => {
    const read = texts.flatMap((text) => {
      const quick = quickYaml(text);
      return quick === undefined ? [] : [{ text, quick: quick, slow: slowYaml(text) }];
    });
    for (const { text, quick, slow } of read)
      expect(withLines(quick), text).toEqual(slow && withLines(slow));
    expect(read.length).toBeGreaterThan(texts.length / 2);
  });

  it.each([
    ['', null],
    ['# only a comment\n', null],
    ['---\na: 1\n', { a: 1 }],
    ['a:\n- x: 1\n  y: "q"\n- [b, {c: d}]\n', { a: [{ x: 1, y: 'q' }, ['b', { c: 'd' }]] }],
    ['{"a": [\n  1,\n  {"b":"c\\n"}\n]}\n', { a: [1, { b: 'c\n' }] }],
    ['a: "é 🙂" # ü\nb: ré\n', { a: 'é 🙂', b: 'ré' }],
    ["a: 'it''s' # c\nb: http://x#y\n\n# c\nc:\n", { a: "it's", b: 'http://x#y', c: null }],
  ])('%j', (text, value) => {
    expect(quickYaml(text)?.value).toEqual(value);
  });
});

describe('the package yaml is asked of', () => {
  it.each([
    ['aliases and anchors', 'a: &x 1\nb: *x\n'],
    ['merge keys', 'a: { <<: { b: 1 } }\n'],
    ['tags', 'a: !!str 1\n'],
    ['directives', '%YAML 1.1\n---\na: yes\n'],
    ['a second document', 'a: 1\n---\nb: 1\n'],
    ['the end of a document', 'a: 1\n...\n'],
    ['texts of several lines', 'a: x\n  y\n'],
    ['quotes of several lines', 'a: "x\n  y"\n'],
    ['block scalars', 'a: |\n  x\n'],
    ['a key twice', 'a: 1\nb: 1\na: 1\n'],
    ['a key twice among brackets', 'x: {a: 1, a: 1}\n'],
    ['__proto__', '__proto__: 1\n'],
    ['keys that are not texts', 'true: 1\n'],
    ['octal numbers', 'a: 0o17\n'],
    ['leading zeros', 'a: 010\n'],
    ['exponents', 'a: 1e3\n'],
    ['long numbers', 'a: 12345678901234567890\n'],
    ['infinity', 'a: .inf\n'],
    ['null in another spelling', 'a: ~\n'],
    ['true in another spelling', 'a: True\n'],
    ['tabs', 'a:\tb\n'],
    ['CR', 'a: b\r\n'],
    ['a text that begins with no sign of ASCII', 'a: é\n'],
    ['33 levels', `a: ${'['.repeat(33)}${']'.repeat(33)}\n`],
  ])('%s', (_, text) => {
    expect(quickYaml(text)).toBeUndefined();
  });
});

it('each resource and each flaw is the same as without it, on the same line', () => {
  // The quick parser does not read a text that contains this.
  const before = '# \t\n';
  const moved = (text: string) =>
    JSON.parse(JSON.stringify(readResources(before + text, place)), (name, value: unknown) =>
      name === 'line' ? Number(value) - 1 : value,
    ) as unknown;
  const all = [...documents, ...cases.map((testCase) => yaml.stringify(resourceOf(testCase)))];
  for (const text of all)
    expect(JSON.parse(JSON.stringify(readResources(text, place))), text).toEqual(moved(text));
});
