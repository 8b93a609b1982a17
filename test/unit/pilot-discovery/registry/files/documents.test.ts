import { describe, expect, it } from 'vitest';
import { documentsOf } from '../../../../../src/pilot-discovery/registry/files/documents.ts';

const cut = (text: string) =>
  documentsOf(Buffer.from(text)).map(({ bytes, before }) => [bytes.toString(), before]);

describe('documentsOf', () => {
  it.each([
    ['', []],
    ['a: 1\n', [['a: 1\n', 0]]],
    [
      'a\n---\nb',
      [
        ['a\n', 0],
        ['---\nb', 1],
      ],
    ],
    [
      '---\na\n--- # b\nb\n---',
      [
        ['---\na\n', 0],
        ['--- # b\nb\n', 2],
        ['---', 4],
      ],
    ],
    [
      '---\r\na\r\n---\r\nb\r\n',
      [
        ['---\r\na\r\n', 0],
        ['---\r\nb\r\n', 2],
      ],
    ],
    ['a: |\n  ---\n ---\n----\n---x\n', [['a: |\n  ---\n ---\n----\n---x\n', 0]]],
    ['%YAML 1.2\n---\na\n---\nb', [['%YAML 1.2\n---\na\n---\nb', 0]]],
    [
      'ä\n---\nö',
      [
        ['ä\n', 0],
        ['---\nö', 1],
      ],
    ],
  ])('cuts %j', (text, documents) => expect(cut(text)).toEqual(documents));
});
