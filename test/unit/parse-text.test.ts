import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseText } from '../../src/run/effective-config.ts';

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
    ['a: [1\nb: 2', 'line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['a: 1\na: 2', 'line 2, column 1: Map keys must be unique'],
    ['a: b: c', 'line 1, column 4: Nested mappings are not allowed in compact mappings'],
    ['\ta: 1', 'line 1, column 1: Tabs are not allowed as indentation'],
    ['{"a": 1,,}', 'line 1, column 9: Unexpected , in flow map'],
    ['a: *x', 'Unresolved alias (the anchor must be set before the alias): x'],
    [
      `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`,
      'Excessive alias count indicates a resource exhaustion attack',
    ],
  ])('%j is refused in one line, with its place: %s', async (text, reason) => {
    expect(await parseText(text)).toEqual({ ok: false, reason });
  });

  it('of two documents is refused: which one would count', async () => {
    expect(await parseText('a: 1\n---\na: 2')).toEqual({ ok: false, reason: expect.stringMatching(/^line 2, column 1: /) as string });
  });

  it.each(['token: "hush\nnext: 1', 'token: hush"\n "hush: [', 'token: {hush: "x" hush}', 'a: "x" hush: hush', '%hush', 'a: !<hush'])(
    'that is refused is not repeated: %j',
    async (text) => {
      const result = await parseText(text);
      expect(result.ok).toBe(false);
      expect(JSON.stringify(result)).not.toContain('hush');
    },
  );

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
