/**
 * The progress of the messages of a stream. Each message begins with a flag (1: compressed) and its
 * length, five bytes in all (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
export interface MessageProgress {
  /** The bytes received of the unfinished message, with its prefix; 0 between two messages. */
  readonly held: number;
  /** The part of the length field that was received, and the bytes of the message still to come. */
  readonly length: number;
  readonly left: number;
  /** Whether a received message is compressed, even one that is not complete. */
  readonly isCompressed: boolean;
}

export const noMessage: MessageProgress = { held: 0, length: 0, left: 0, isCompressed: false };

const prefix = 5;

/** Returns the progress after a piece of the stream. Pure. */
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
