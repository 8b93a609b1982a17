import { derElements, oid, tags } from './der.ts';

/** The fields of an authority's certificate that the certificates which it issues repeat. */
export interface IssuerFields {
  /** Its subject, DER: names are compared byte by byte. */
  readonly issuer: Uint8Array;
  /** Its subject key identifier; undefined if it has none. */
  readonly keyId: Uint8Array | undefined;
}

const keyIdType = oid('2.5.29.14');
const [version, extensions] = [0xa0, 0xa3];

/** Returns the fields of a certificate in DER; undefined if it is none. Pure. */
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
  const value = all.find(([id]) => keyIdType.equals(id?.bytes ?? nothing))?.at(-1);
  const [keyId] = derElements(value?.content ?? nothing) ?? [];
  return { issuer: subject.bytes, keyId: keyId?.content };
}

const nothing = new Uint8Array();
