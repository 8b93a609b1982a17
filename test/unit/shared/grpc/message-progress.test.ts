import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPiece, noMessage } from '../../../../src/shared/grpc/message-progress.ts';

const message = (length: number, flag = 0) => {
  const bytes = Buffer.alloc(5 + length, 'x');
  bytes[0] = flag;
  bytes.writeUInt32BE(length, 1);
  return bytes;
};

describe('afterPiece', () => {
  it.each([
    ['nothing', [], 0],
    ['a part of the prefix', [message(9).subarray(0, 3)], 3],
    ['the prefix', [message(9).subarray(0, 5)], 5],
    ['all but the last byte', [message(9).subarray(0, 13)], 13],
    ['a message', [message(9)], 0],
    ['an empty message', [message(0)], 0],
    ['two messages and a half', [message(9), message(70_000), message(9).subarray(0, 7)], 7],
    ['the length of 60 MB', [message(60_000_000).subarray(0, 1_000)], 1_000],
  ])('after %s', (_, pieces, received) => {
    expect(pieces.reduce(afterPiece, noMessage)).toMatchObject({ received, isCompressed: false });
  });

  it('does not depend on how the bytes are cut', () => {
    const messages = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 600 }), fc.constantFrom(0, 0, 0, 1)),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        messages,
        fc.nat(400),
        fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 40 }),
        (lengthsAndFlags, cut, cuts) => {
          const all = Buffer.concat(lengthsAndFlags.map(([length, flag]) => message(length, flag)));
          const bytes = all.subarray(0, Math.max(0, all.length - cut));
          const [pieces, offset] = [[] as Buffer[], { now: 0 }];
          for (const size of cuts) pieces.push(bytes.subarray(offset.now, (offset.now += size)));
          pieces.push(bytes.subarray(offset.now));
          const whole = afterPiece(noMessage, bytes);
          expect(pieces.reduce(afterPiece, noMessage)).toEqual(whole);
          expect(whole.received).toBeLessThanOrEqual(605);
        },
      ),
    );
  });

  it('notes a message that is to be unpacked, and goes on noting it', () => {
    const after = [message(4), message(4, 1), message(4)].reduce(afterPiece, noMessage);
    expect(after).toMatchObject({ received: 0, isCompressed: true });
  });
});
