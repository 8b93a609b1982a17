/**
 * How far the messages of a stream have come. Each begins with a flag (1: it is compressed) and
 * its length, five bytes in all (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
export interface MessageProgress {
  /** Of the message that is not finished, with its prefix; 0 between two messages. In bytes. */
  readonly held: number;
  /** What has come of the length, and what is still to come of the message itself. */
  readonly length: number;
  readonly left: number;
  /** A message has come, or comes, that has to be unpacked. */
  readonly isCompressed: boolean;
}

export const noMessage: MessageProgress = { held: 0, length: 0, left: 0, isCompressed: false };

const prefix = 5;

/** The progress after a piece of the stream. Pure. */
export function afterPiece(before: MessageProgress, piece: Uint8Array): MessageProgress {
  let { held, length, left, isCompressed } = before;
  for (let at = 0; at < piece.length;) {
    if (held >= prefix) {
      const taken = Math.min(left, piece.length - at);
      [at, held, left] = [at + taken, held + taken, left - taken];
    } else {
      const byte = piece[at] ?? 0;
      if (held === 0) [isCompressed, length] = [isCompressed || byte !== 0, 0];
      else length = length * 256 + byte;
      [at, held, left] = [at + 1, held + 1, length];
    }
    if (held >= prefix && left === 0) held = 0;
  }
  return { held, length, left, isCompressed };
}
