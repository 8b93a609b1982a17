// Why: docs/decisions/031-secret-data-is-cut-out-as-bytes.md
import type { KeyObject } from 'node:crypto';

/** The forms of a private key, with their PEM labels (RFC 7468 §10, RFC 8017, RFC 5915). */
const labels = { pkcs8: 'PRIVATE KEY', pkcs1: 'RSA PRIVATE KEY', sec1: 'EC PRIVATE KEY' } as const;

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const padding = 0x3d;
/** In characters, by RFC 7468 §2. */
const lineLength = 64;

/**
 * Writes a private key as PEM, in bytes. A string would stay in the heap until it is collected, and
 * in each heap snapshot, and nothing can overwrite it. Node itself exports PEM only as a string.
 * Pure.
 */
export function privateKeyPem(key: KeyObject, type: keyof typeof labels): Buffer {
  const bytes = base64(key.export({ format: 'der', type }));
  const lines = Array.from({ length: Math.ceil(bytes.length / lineLength) }, (_, line) => [
    bytes.subarray(line * lineLength, (line + 1) * lineLength),
    Buffer.from('\n'),
  ]);
  const [begin, end] = ['BEGIN', 'END'].map((word) =>
    Buffer.from(`-----${word} ${labels[type]}-----\n`),
  );
  return Buffer.concat([begin, ...lines.flat(), end].filter((part) => part !== undefined));
}

function base64(data: Buffer): Buffer {
  const encoded = Buffer.alloc(Math.ceil(data.length / 3) * 4, padding);
  for (let [from, to] = [0, 0]; from < data.length; from += 3, to += 4) {
    const left = Math.min(3, data.length - from);
    const bits = data.readUIntBE(from, left) << (8 * (3 - left));
    for (let place = 0; place <= left; place += 1)
      encoded[to + place] = alphabet[(bits >> (18 - 6 * place)) & 63] ?? padding;
  }
  return encoded;
}
