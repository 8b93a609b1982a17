// Why: docs/decisions/112-an-incomplete-crl-is-not-served.md
import type { KeyObject, X509Certificate } from 'node:crypto';
import { type IssuerFields, issuerFields } from './issuer-fields.ts';
import { publicKeyOf } from './key-flaw.ts';
import { subjectOf, timesOf } from './key-pair-flaw.ts';
import { type Crl, isCrlOf } from './read-crl.ts';

/** Whether Envoy can use CRLs; or why it would refuse certificates that are good. */
export type CrlVerdict =
  | {
      readonly ok: true;
      /** When the first of them must be replaced, in ms since 1970. */
      readonly until: number;
      /** The number of revoked certificates. */
      readonly revoked: number;
    }
  | { readonly ok: false; readonly reason: string };

/** In ms. A list counts as expired this long before Envoy refuses it: a push takes time. */
export const beforeExpiry = 10_000;
/** In characters. A subject may be as long as its certificate. */
const longestSubject = 100;

/**
 * Judges CRLs. Envoy refuses each certificate whose authority, or an authority above it, has no
 * current CRL; so each of these authorities that has not expired needs one. CRLs of other
 * authorities are not judged, and neither is an authority whose key cannot be read: it vouches for
 * nobody. Pure.
 *
 * @param authorities the roots, and the intermediate certificates
 * @param now ms since 1970
 */
export function crlVerdict(
  crls: readonly Crl[],
  authorities: readonly X509Certificate[],
  now: number,
): CrlVerdict {
  const living = livingAuthorities(authorities, now);
  const keys = keysByName(living);
  const ends: number[] = [];
  for (const authority of living) {
    const end = endOf(authority, keys, crls, now);
    if (typeof end === 'string') return refused(end);
    ends.push(end);
  }
  const revoked = crls.reduce((sum, crl) => sum + crl.revoked, 0);
  return { ok: true, until: Math.min(...ends), revoked };
}

/** Returns whether one of the CRLs names one of these authorities. Pure. */
export function concernsAny(
  crls: readonly Crl[],
  authorities: readonly X509Certificate[],
): boolean {
  return authorities.some(({ raw }) => {
    const fields = issuerFields(raw);
    return fields !== undefined && crls.some((crl) => isNamed(crl, fields));
  });
}

interface Authority {
  readonly certificate: X509Certificate;
  readonly publicKey: KeyObject;
  readonly fields: IssuerFields;
}

/** Returns the authorities that have not expired and whose keys can be read, each once. */
function livingAuthorities(
  authorities: readonly X509Certificate[],
  now: number,
): readonly Authority[] {
  const each = new Map(authorities.map((certificate) => [hex(certificate.raw), certificate]));
  return [...each.values()].flatMap((certificate) => {
    const fields = now < timesOf(certificate)[1] ? issuerFields(certificate.raw) : undefined;
    const publicKey = publicKeyOf(certificate);
    return fields === undefined || publicKey === undefined
      ? []
      : [{ certificate, publicKey, fields }];
  });
}

/** The public keys of the authorities with a name, both in hex. */
type KeysByName = ReadonlyMap<string, ReadonlySet<string>>;

function keysByName(authorities: readonly Authority[]): KeysByName {
  const keys = new Map<string, Set<string>>();
  for (const { publicKey, fields } of authorities) {
    const name = hex(fields.issuer);
    const ofName = keys.get(name) ?? new Set();
    keys.set(name, ofName.add(hex(publicKey.export({ type: 'spki', format: 'der' }))));
  }
  return keys;
}

/** Returns when the CRLs of an authority expire, in ms since 1970; or why they cannot be used. */
function endOf(
  { certificate, publicKey, fields }: Authority,
  keys: KeysByName,
  crls: readonly Crl[],
  now: number,
): number | string {
  const name = subjectOf(certificate).slice(0, longestSubject) || 'without a subject';
  const ofName = crls.filter((crl) => isNamed(crl, fields));
  const keysOfName = keys.get(hex(fields.issuer))?.size ?? 0;
  if (keysOfName > 1 && ofName.some(({ keyId }) => keyId === undefined))
    return `several authorities have the name ${name}, and its CRL has no identifier of the key`;
  const ofKey = ofName.filter(
    ({ keyId }) => keyId === undefined || fields.keyId === undefined || isSame(keyId, fields.keyId),
  );
  if (ofKey.length === 0) return `the CRL of the authority ${name} is missing`;
  if (!ofKey.every((crl) => isCrlOf(crl, publicKey)))
    return `a CRL of the authority ${name} is not signed by its key`;
  if (fields.revoking === 'not allowed')
    return `the key usage of the authority ${name} does not allow it to sign a CRL (cRLSign)`;
  const begun = ofKey.filter(({ thisUpdate }) => thisUpdate <= now);
  const end = Math.max(...begun.map(({ nextUpdate }) => nextUpdate));
  if (begun.length === 0) {
    const begin = Math.min(...ofKey.map(({ thisUpdate }) => thisUpdate));
    return `the CRL of the authority ${name} is not valid before ${textOf(begin)}`;
  }
  return now < end - beforeExpiry
    ? end
    : `the CRL of the authority ${name} expires at ${textOf(end)}: put a new one in its place`;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const textOf = (ms: number): string => new Date(ms).toISOString();
const refused = (reason: string): CrlVerdict => ({ ok: false, reason });
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const isNamed = ({ issuer }: Crl, fields: IssuerFields): boolean => isSame(issuer, fields.issuer);
