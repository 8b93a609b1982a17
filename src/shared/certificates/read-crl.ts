import { type KeyObject, verify } from 'node:crypto';
import { crlBodies } from './crl-flaw.ts';
import { type DerElement, derElements, oid, tags } from './der.ts';

/** A list of revoked certificates (RFC 5280 §5). */
export interface Crl {
  /** The subject of the authority that has signed it, DER. */
  readonly issuer: Uint8Array;
  /** The identifier of the key that has signed the list; undefined if the list has none. */
  readonly keyId: Uint8Array | undefined;
  /** In ms since 1970. Envoy accepts a list until `nextUpdate`, which may be Infinity. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** The number of revoked certificates. */
  readonly revoked: number;
  readonly signature: CrlSignature;
}

interface CrlSignature {
  readonly signed: Uint8Array;
  /** The algorithm, an object identifier as DER. */
  readonly algorithm: Uint8Array;
  readonly bytes: Uint8Array;
}

/** The hashes of the algorithms that Envoy accepts, by their identifiers. Ed25519 has none. */
const hashes: readonly (readonly [Buffer, 'sha256' | 'sha384' | 'sha512' | null])[] = [
  [oid('1.2.840.113549.1.1.11'), 'sha256'],
  [oid('1.2.840.113549.1.1.12'), 'sha384'],
  [oid('1.2.840.113549.1.1.13'), 'sha512'],
  [oid('1.2.840.10045.4.3.2'), 'sha256'],
  [oid('1.2.840.10045.4.3.3'), 'sha384'],
  [oid('1.2.840.10045.4.3.4'), 'sha512'],
  [oid('1.3.101.112'), null],
];

const [authorityKeyId, extensionsTag, keyIdTag] = [oid('2.5.29.35'), 0xa0, 0x80];

/**
 * Reads the lists in a PEM text; or returns why one of them cannot be used. A critical extension is
 * refused: Envoy would refuse each certificate of that authority. Pure.
 */
export function readCrls(text: string): readonly Crl[] | string {
  const bodies = crlBodies(text);
  if (typeof bodies === 'string') return bodies;
  const crls: Crl[] = [];
  for (const body of bodies) {
    const crl = readCrl(body);
    if (typeof crl === 'string') return crl;
    crls.push(crl);
  }
  return crls;
}

/** Returns whether the key has signed the list. Pure. */
export function isCrlOf({ signature }: Crl, publicKey: KeyObject): boolean {
  const algorithm = hashes.find(([id]) => id.equals(signature.algorithm));
  if (algorithm === undefined) return false;
  try {
    const [, hash] = algorithm;
    return verify(hash, signature.signed, { key: publicKey, dsaEncoding: 'der' }, signature.bytes);
  } catch {
    return false; // the signature is of another kind than the key
  }
}

const malformed = 'an X509 CRL does not parse';

function readCrl(bytes: Uint8Array): Crl | string {
  const [signed, algorithm, signature] = inside(derElements(bytes)?.[0]);
  const [id] = inside(algorithm);
  if (signed === undefined || signature?.tag !== tags.bits || id?.tag !== tags.oid)
    return malformed;
  const fields = inside(signed);
  const [, issuer, thisUpdate, ...others] =
    fields[0]?.tag === tags.integer ? fields.slice(1) : fields;
  const begin = timeIn(thisUpdate);
  const end = timeIn(others[0]);
  if (issuer?.tag !== tags.sequence || begin === undefined) return malformed;
  if (end === undefined && isTime(others[0])) return malformed;
  const entries = inside(others.find(({ tag }) => tag === tags.sequence)).map(inside);
  const extensions = extensionsIn(inside(others.find(({ tag }) => tag === extensionsTag))[0]);
  // Envoy does not accept an empty list of extensions.
  if (entries.some(([, , list]) => list?.content.length === 0)) return malformed;
  const ofEntries = entries.flatMap(([, , list]) => extensionsIn(list));
  if ([...extensions, ...ofEntries].some(isCritical))
    return 'an X509 CRL has a critical extension, which Envoy does not take';
  const keyId = extensions.find(([type]) => authorityKeyId.equals(bytesOf(type)))?.at(-1);
  const idElements = inside(derElements(contentOf(keyId))?.[0]);
  return {
    issuer: issuer.bytes,
    keyId: idElements.find(({ tag }) => tag === keyIdTag)?.content,
    thisUpdate: begin,
    nextUpdate: end ?? Infinity,
    revoked: entries.length,
    signature: { signed: signed.bytes, algorithm: id.bytes, bytes: signature.content.subarray(1) },
  };
}

const nothing = new Uint8Array();
const bytesOf = (element: DerElement | undefined): Uint8Array => element?.bytes ?? nothing;
const contentOf = (element: DerElement | undefined): Uint8Array => element?.content ?? nothing;

/** Returns the elements inside an element; none if it has none. */
const inside = (element: DerElement | undefined): readonly DerElement[] =>
  derElements(contentOf(element)) ?? [];

const extensionsIn = (list: DerElement | undefined): readonly (readonly DerElement[])[] =>
  inside(list).map(inside);

const isCritical = (parts: readonly DerElement[]): boolean =>
  parts.some(({ tag, content }) => tag === tags.boolean && content[0] !== 0);

const isTime = (element: DerElement | undefined): boolean =>
  element?.tag === tags.generalizedTime || element?.tag === tags.utcTime;

/** Returns a time in ms since 1970; undefined if the element is not a time. */
function timeIn(element: DerElement | undefined): number | undefined {
  const text = Buffer.from(contentOf(element)).toString('latin1');
  const digits =
    element?.tag === tags.generalizedTime
      ? text
      : element?.tag === tags.utcTime
        ? `${text < '50' ? '20' : '19'}${text}`
        : '';
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
