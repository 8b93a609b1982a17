// Why: docs/decisions/031-secret-data-is-cut-out-as-bytes.md
/** A shorter text cannot be part of a key, and stays in the JSON. In bytes. */
const shortest = 32;
const [quote, backslash, colon, comma, space] = [...Buffer.from('"\\:, ')] as [
  number,
  number,
  number,
  number,
  number,
];
const [openBrace, closeBrace, openBracket, closeBracket] = [...Buffer.from('{}[]')] as [
  number,
  number,
  number,
  number,
];

/** JSON with the index of each cut value in its place, and the bytes of these values. */
export interface CutJson {
  readonly json: Buffer;
  readonly bytes: readonly Buffer[];
}

/**
 * Cuts the `data` of Secrets out of JSON before the JSON becomes a text. So a private key never
 * becomes a text, which would stay in the heap. The JSON is that of a Secret, of a list, or of an
 * event of a watch. The values of annotations are left out, because `kubectl apply` writes the
 * whole Secret into one. Changes the bytes of `json` in place. Otherwise pure; does not throw for
 * input that is not JSON.
 */
export function cutSecrets(json: Buffer): CutJson {
  const bytes: Buffer[] = [];
  const path: string[] = []; // the names of the open objects; '' for a list
  let name = '';
  for (let position = 0; position < json.length; position += 1) {
    const byte = json[position];
    if (byte === openBrace || byte === openBracket) {
      path.push(name);
      name = '';
    } else if (byte === closeBrace || byte === closeBracket) {
      path.pop();
      name = '';
    } else if (byte === comma) {
      name = '';
    } else if (byte === quote) {
      const end = endOfText(json, position);
      if (isName(json, end)) {
        name = json.toString('latin1', position + 1, Math.min(end, position + 1 + shortest));
      } else if (end >= json.length) {
        break; // it does not end
      } else if (end - position > shortest && isData(path)) {
        const index = String(bytes.push(fromBase64(json.subarray(position + 1, end))) - 1);
        json.fill(space, position, end + 1).write(index, position);
      } else if (path.at(-1) === 'annotations') {
        json.fill(space, position + 2, end + 1)[position + 1] = quote;
      }
      position = end;
    }
  }
  return { json, bytes };
}

/**
 * Whether the path is that of data in a Secret, which is alone, in a list, or in an event of a
 * watch.
 */
function isData(path: readonly string[]): boolean {
  const [, first] = path;
  if (path.at(-1) !== 'data') return false;
  return (
    path.length === 2 ||
    (path.length === 3 && first === 'object') ||
    (path.length === 4 && first === 'items')
  );
}

/** Returns the place of the quote that ends the text which begins at `start`. */
function endOfText(json: Buffer, start: number): number {
  let position = start + 1;
  while (position < json.length && json[position] !== quote)
    position += json[position] === backslash ? 2 : 1;
  return position;
}

function isName(json: Buffer, end: number): boolean {
  let position = end + 1;
  while (position < json.length && (json[position] ?? 0) <= space) position += 1;
  return json[position] === colon;
}

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const digits = new Int8Array(256).fill(-1);
alphabet.forEach((byte, digit) => (digits[byte] = digit));

/** Works as `Buffer.from(text, 'base64')`, but on bytes. */
export function fromBase64(encoded: Uint8Array): Buffer {
  const decoded = Buffer.alloc(Math.floor((encoded.length * 3) / 4));
  let [length, value, bits] = [0, 0, 0];
  for (const byte of encoded) {
    const digit = digits[byte] ?? -1;
    if (digit < 0) continue;
    value = ((value << 6) | digit) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    decoded[length++] = (value >> bits) & 0xff;
  }
  return decoded.subarray(0, length);
}
