// Why: docs/decisions/031-secret-data-is-cut-out-as-bytes.md
import type { KeyObject } from 'node:crypto';
import { base64Bytes } from './base64-bytes.ts';

/** The forms of a private key, with their PEM labels (RFC 7468 §10, RFC 8017, RFC 5915). */
const labels = { pkcs8: 'PRIVATE KEY', pkcs1: 'RSA PRIVATE KEY', sec1: 'EC PRIVATE KEY' } as const;

/** In characters, by RFC 7468 §2. */
const lineLength = 64;

/**
 * Writes a private key as PEM, in bytes. A string would stay in the heap until it is collected, and
 * in each heap snapshot, and nothing can overwrite it. Node itself exports PEM only as a string.
 * Pure.
 */
export function privateKeyPem(key: KeyObject, type: keyof typeof labels): Buffer {
  const bytes = base64Bytes(key.export({ format: 'der', type }));
  const lines = Array.from({ length: Math.ceil(bytes.length / lineLength) }, (_, line) => [
    bytes.subarray(line * lineLength, (line + 1) * lineLength),
    Buffer.from('\n'),
  ]);
  const [begin, end] = ['BEGIN', 'END'].map((word) =>
    Buffer.from(`-----${word} ${labels[type]}-----\n`),
  );
  return Buffer.concat([begin, ...lines.flat(), end].filter((part) => part !== undefined));
}
