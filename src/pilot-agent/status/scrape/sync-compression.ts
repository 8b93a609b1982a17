// Why: docs/decisions/053-probes-do-not-wait-for-the-pool.md
import { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** In bytes. This much is compressed at a time, in about half a millisecond. */
const pieceSize = 64 << 10;
/** RFC 1952: deflate, no time, no name, an unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** The last block of deflate, which is empty. */
const lastBlock = Buffer.from([3, 0]);

/** How pieces become one compressed text. */
interface Format {
  readonly begin: () => Buffer;
  readonly compress: (piece: Buffer) => Buffer;
  readonly end: () => Buffer;
}

/**
 * Compresses to gzip without Node's thread pool, which may be busy for long with the agent's reads
 * and look-ups. Each piece is a part of one stream of deflate.
 */
export function gzipStream(): Transform {
  const counted = { crc: 0, size: 0 };
  return pieceByPiece({
    begin: () => header,
    compress(piece) {
      counted.crc = zlib.crc32(piece, counted.crc);
      counted.size = (counted.size + piece.length) >>> 0;
      return zlib.deflateRawSync(piece, {
        level: zlib.constants.Z_BEST_SPEED,
        finishFlush: zlib.constants.Z_SYNC_FLUSH,
      });
    },
    end() {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(counted.crc, 0);
      trailer.writeUInt32LE(counted.size, 4);
      return Buffer.concat([lastBlock, trailer]);
    },
  });
}

/** Compresses to zstd, in which a text may have many frames. */
export function zstdStream(compress: (piece: Buffer) => Buffer): Transform {
  return pieceByPiece({
    begin: () => Buffer.alloc(0),
    compress,
    end: () => compress(Buffer.alloc(0)),
  });
}

function pieceByPiece({ begin, compress, end }: Format): Transform {
  const waiting: Buffer[] = [];
  let size = 0;
  const compressWaiting = () => {
    size = 0;
    return compress(Buffer.concat(waiting.splice(0)));
  };
  const stream = new Transform({
    transform(piece: Buffer, _, done) {
      waiting.push(piece);
      size += piece.length;
      done(null, size < pieceSize ? undefined : compressWaiting());
    },
    flush(done) {
      done(null, Buffer.concat([...(size > 0 ? [compressWaiting()] : []), end()]));
    },
  });
  stream.push(begin());
  return stream;
}
