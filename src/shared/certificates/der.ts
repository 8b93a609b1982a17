/** An element of DER (ITU-T X.690 §8, §10). Its bytes are a part of the input, not a copy. */
export interface DerElement {
  readonly tag: number;
  /** The whole element, with its tag and its length. */
  readonly bytes: Uint8Array;
  readonly content: Uint8Array;
}

/** The tags of the types that certificates and requests have. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A tag of more than one byte has these bits; a length of more than one byte has this bit. */
const [manyTags, longLength] = [0x1f, 0x80];
/** The largest number of bytes in a length: an element has less than 16 MiB. */
const mostLengthBytes = 3;

/**
 * Returns the elements that follow each other in `bytes`; undefined if something else is there. The
 * rules are strict: no indefinite length, and no length that could be shorter. Elements inside an
 * element are not read. Pure.
 */
export function derElements(bytes: Uint8Array): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const element = elementAt(bytes, offset);
    if (element === undefined) return undefined;
    elements.push(element);
    offset += element.bytes.length;
  }
  return elements;
}

function elementAt(bytes: Uint8Array, offset: number): DerElement | undefined {
  const [tag, first] = [bytes[offset], bytes[offset + 1]];
  if (tag === undefined || first === undefined || (tag & manyTags) === manyTags) return undefined;
  const lengthBytes = first < longLength ? 0 : first - longLength;
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : lengthIn(bytes.subarray(offset + 2, start));
  if (first === longLength || lengthBytes > mostLengthBytes || length === undefined)
    return undefined;
  const end = start + length;
  if (end > bytes.length) return undefined;
  return { tag, bytes: bytes.subarray(offset, end), content: bytes.subarray(start, end) };
}

/** Returns a length of several bytes; undefined if fewer bytes would do. */
function lengthIn(bytes: Uint8Array): number | undefined {
  const length = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return length < longLength || bytes[0] === 0 ? undefined : length;
}

/** Returns an element with the parts as its content. Pure. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): readonly number[] {
  if (length < longLength) return [length];
  const bytes = base(length, 256);
  return [longLength + bytes.length, ...bytes];
}

/** Returns the digits of a number, the highest first. */
function base(number: number, radix: number): readonly number[] {
  const digit = number % radix;
  return number < radix ? [digit] : [...base((number - digit) / radix, radix), digit];
}

/** Returns an object identifier, such as `2.5.29.17`. Pure. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  const bytes = others.flatMap((arc) =>
    base(arc, 128).map((digit, index, { length }) => digit + (index < length - 1 ? 128 : 0)),
  );
  return der(tags.oid, Buffer.from([first * 40 + second, ...bytes]));
}

/** Returns a positive integer with these bytes, the highest first. Pure. */
export function positive(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : bytes.subarray(start);
  return (digits[0] ?? 0) < 0x80
    ? der(tags.integer, digits)
    : der(tags.integer, Buffer.from([0]), digits);
}

/** Returns a string of bits, the last `unused` of which do not count. Pure. */
export const bitString = (bytes: Uint8Array, unused: number): Buffer =>
  der(tags.bits, Buffer.from([unused]), bytes);

/**
 * Returns a time as RFC 5280 §4.1.2.5 wants it: with two digits for the year before 2050. Pure.
 *
 * @param ms since 1970; parts of a second are dropped
 */
export function derTime(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
  return digits < '2050'
    ? der(tags.utcTime, Buffer.from(digits.slice(2)))
    : der(tags.generalizedTime, Buffer.from(digits));
}
