/**
 * The progress of the messages of a stream. Each message begins with a flag (1: compressed) and its
 * length, five bytes in all (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
export interface MessageProgress {
  /** The bytes received of the unfinished message, with its prefix; 0 between two messages. */
  readonly received: number;
  /** The part of the length field that was received, and the bytes of the message still to come. */
  readonly length: number;
  readonly left: number;
  /** Whether a received message is compressed, even one that is not complete. */
  readonly isCompressed: boolean;
}

export const noMessage: MessageProgress = { received: 0, length: 0, left: 0, isCompressed: false };

const prefix = 5;

/** Returns the progress after a piece of the stream. Pure. */
export function afterPiece(before: MessageProgress, piece: Uint8Array): MessageProgress {
  let { received, length, left, isCompressed } = before;
  for (let offset = 0; offset < piece.length;) {
    if (received >= prefix) {
      const count = Math.min(left, piece.length - offset);
      [offset, received, left] = [offset + count, received + count, left - count];
    } else {
      const byte = piece[offset] ?? 0;
      if (received === 0) [isCompressed, length] = [isCompressed || byte !== 0, 0];
      else length = length * 256 + byte;
      [offset, received, left] = [offset + 1, received + 1, length];
    }
    if (received >= prefix && left === 0) received = 0;
  }
  return { received, length, left, isCompressed };
}
