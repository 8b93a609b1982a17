import { describe, expect, it } from 'vitest';
import { der, derElements } from '../../../../src/shared/certificates/der.ts';

const octets = (length: number) => Buffer.alloc(length, 1);

describe('derElements', () => {
  it.each([0, 1, 127, 128, 255, 256, 65_535, 65_536])(
    'reads back an element of %i bytes, and the one after it',
    (length) => {
      const first = der(0x04, octets(length));
      const elements = derElements(Buffer.concat([first, der(0x05)]));
      expect(elements?.map(({ tag, content }) => [tag, content.length])).toEqual([
        [0x04, length],
        [0x05, 0],
      ]);
    },
  );

  it.each([
    ['a length of two bytes that fits in one', [0x04, 0x81, 0x01, 0x01]],
    ['a length that begins with a zero', [0x04, 0x82, 0x00, 0x80, ...octets(128)]],
    ['an indefinite length', [0x30, 0x80, 0x00, 0x00]],
    ['a length of four bytes', [0x04, 0x84, 0x01, 0x00, 0x00, 0x00]],
    ['a tag of two bytes', [0x1f, 0x81, 0x01]],
    ['fewer bytes than its length', [0x04, 0x02, 0x01]],
    ['no length', [0x04]],
  ])('refuses %s', (_, bytes) => expect(derElements(Buffer.from(bytes))).toBeUndefined());
});
