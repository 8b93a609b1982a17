const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const padding = 0x3d;

/**
 * Encodes bytes as base64, in bytes: Node itself encodes them only as a string, which stays in the
 * heap until it is collected. Pure.
 */
export function base64Bytes(data: Buffer): Buffer {
  const encoded = Buffer.alloc(Math.ceil(data.length / 3) * 4, padding);
  for (let [from, to] = [0, 0]; from < data.length; from += 3, to += 4) {
    const left = Math.min(3, data.length - from);
    const bits = data.readUIntBE(from, left) << (8 * (3 - left));
    for (let place = 0; place <= left; place += 1)
      encoded[to + place] = alphabet[(bits >> (18 - 6 * place)) & 63] ?? padding;
  }
  return encoded;
}
