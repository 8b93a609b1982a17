import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseText } from '../../../../src/pilot-agent/config/parse-text.ts';
import { parseEnvoyYaml } from '../../../../src/proxy/envoy-yaml.ts';

describe('a text', () => {
  it.each<[text: string, value: unknown]>([
    ['{"a": {"b": [1, "x", null, true]}}', { a: { b: [1, 'x', null, true] } }],
    ['a:\n  b: [1, x, null, true]\n', { a: { b: [1, 'x', null, true] } }],
    ['{a: 45s, b: "1"}', { a: '45s', b: '1' }],
    ['a: &x {b: 1}\nc: {<<: *x, d: 2}', { a: { b: 1 }, c: { b: 1, d: 2 } }],
    ['', null],
    ['# nothing\n', null],
    ['---\na: 1\n...\n', { a: 1 }],
    ['text', 'text'],
  ])('%j says %j', async (text, value) => {
    expect(await parseText(text)).toEqual({ ok: true, value });
  });

  it.each([
    [
      'a: [1\nb: 2',
      'line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['a: 1\na: 2', 'line 2, column 1: Map keys must be unique'],
    ['a: b: c', 'line 1, column 4: Nested mappings are not allowed in compact mappings'],
    ['\ta: 1', 'line 1, column 1: Tabs are not allowed as indentation'],
    ['{"a": 1,,}', 'line 1, column 9: Unexpected , in flow map'],
    ['a: *x', 'an alias has no anchor'],
    [
      `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`,
      'line 3, column 14: There are too many aliases',
    ],
  ])('%j is refused in one line, with its place: %s', async (text, reason) => {
    expect(await parseText(text)).toEqual({ ok: false, reason });
  });

  it('makes the parser warn of nothing by itself, in whose warnings the text would be', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      for (const text of [
        '{ {secret: hush}: 1 }',
        '? [hush]\n: 1',
        '%HUSH a\n---\na: 1',
        'a: !hush 1',
      ]) {
        await parseText(text);
        await parseEnvoyYaml(text);
      }
      expect(warn.mock.calls).toEqual([]);
    } finally {
      warn.mockRestore();
    }
  });

  it('of two documents is refused: which one would count', async () => {
    expect(await parseText('a: 1\n---\na: 2')).toEqual({
      ok: false,
      reason: expect.stringMatching(/^line 2, column 1: /) as string,
    });
  });

  it.each([
    'token: "hush\nnext: 1',
    'token: hush"\n "hush: [',
    'token: {hush: "x" hush}',
    'a: "x" hush: hush',
    '%hush',
    'a: !<hush',
    'a: *hush',
    'a: | hush\n  b',
    'a: "\\hush"',
  ])('that is refused is not repeated: %j', async (text) => {
    const result = await parseText(text);
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain('hush');
  });

  const names = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1`);
  it.each([
    [
      'a mesh file with 100,000 names',
      names(100_000).join('\n'),
      'it has 988889 characters, and 262144 are read at most',
    ],
    [
      'YAML of many words',
      names(20_000).join('\n'),
      'it has more than 10000 YAML tokens, which is the limit',
    ],
    [
      'JSON of many values',
      JSON.stringify(Array(10_000).fill(1)),
      'it has more than 10000 values, which is the limit',
    ],
    [
      'JSON of many levels',
      `${'['.repeat(101)}${']'.repeat(101)}`,
      'it is nested more than 100 levels deep',
    ],
    [
      'JSON of more levels than a stack',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      'it is nested more than 100 levels deep',
    ],
    ['what contains itself', 'nobody: &a {b: *a}', 'it is nested more than 100 levels deep'],
    [
      'the same name twice, far apart',
      ['a: 1', ...names(1_000), 'a: 2'].join('\n'),
      'line 1002, column 1: Map keys must be unique',
    ],
    [
      'the same name as a text and a number',
      '{1: a, "1": b}',
      'line 1, column 8: Map keys must be unique',
    ],
  ])('beyond the limits is refused: %s', async (_, text, reason) => {
    expect(await parseText(text)).toEqual({ ok: false, reason });
  });

  it.each([
    ['names', names(1_250).join('\n')],
    ['comments', `${'# a comment\n'.repeat(4_000)}a: 1`],
    ['values of JSON', JSON.stringify(Array(9_999).fill(1))],
    ['levels', `${'['.repeat(100)}${']'.repeat(100)}`],
  ])('within them is read: %s', async (_, text) => {
    expect(await parseText(text)).toMatchObject({ ok: true });
  });

  it('whatever it is has an answer', async () => {
    const pieces = fc.constantFrom(
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&x',
      '*x',
      '!t',
      '|',
      '>',
      '#',
      '%',
      '?',
      ',',
      '\t',
      '<<',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const result = await parseText(text);
        if (!result.ok) expect(result.reason).toMatch(/^\S[^\n]*$/);
      }),
      { numRuns: 300 },
    );
  });
});
