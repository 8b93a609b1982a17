import { derElements, oid, tags } from './der.ts';

/** The fields of an authority's certificate that the certificates which it issues repeat. */
export interface IssuerFields {
  /** Its subject, DER: names are compared byte by byte. */
  readonly issuer: Uint8Array;
  /** Its subject key identifier; undefined if it has none. */
  readonly keyId: Uint8Array | undefined;
  /** Whether its key may sign CRLs: without a key usage in the certificate, it may. */
  readonly revoking: 'allowed' | 'not allowed';
}

const [keyIdType, keyUsageType] = [oid('2.5.29.14'), oid('2.5.29.15')];
/** The bit cRLSign in the first byte of a key usage (RFC 5280 §4.2.1.3). */
const crlSign = 0b0000_0010;
const [version, extensions] = [0xa0, 0xa3];

/** Returns the fields of a certificate in DER; undefined if the bytes are not one. Pure. */
export function issuerFields(certificate: Uint8Array): IssuerFields | undefined {
  const [outer] = derElements(certificate) ?? [];
  const [signed] = derElements(outer?.content ?? nothing) ?? [];
  const fields = derElements(signed?.content ?? nothing) ?? [];
  const [, , , , subject] = fields.filter(({ tag }) => tag !== version);
  if (subject?.tag !== tags.sequence) return undefined;
  const [list] =
    derElements(fields.find(({ tag }) => tag === extensions)?.content ?? nothing) ?? [];
  const all = (derElements(list?.content ?? nothing) ?? []).map(
    ({ content }) => derElements(content) ?? [],
  );
  const valueOf = (type: Buffer) => {
    const value = all.find(([id]) => type.equals(id?.bytes ?? nothing))?.at(-1);
    return derElements(value?.content ?? nothing)?.[0]?.content;
  };
  const [, usage] = valueOf(keyUsageType) ?? [0, crlSign];
  return {
    issuer: subject.bytes,
    keyId: valueOf(keyIdType),
    revoking: ((usage ?? 0) & crlSign) === 0 ? 'not allowed' : 'allowed',
  };
}

const nothing = new Uint8Array();
