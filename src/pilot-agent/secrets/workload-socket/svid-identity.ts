import { pemBlocks, pemCertificates } from '../../../shared/certificates/key-pair-flaw.ts';

/** The identity in a certificate, or why it has none that can be used. */
export type SvidIdentity =
  | { readonly ok: true; readonly id: string; readonly trustDomain: string }
  | { readonly ok: false; readonly reason: string };

/** https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md#2-spiffe-identity */
const spiffeId = /^spiffe:\/\/(?<trustDomain>[a-z0-9._-]{1,255})(?:\/[a-zA-Z0-9._-]+)+$/;

/** In characters. */
const longest = 2_048;

/**
 * Returns the identity of the first certificate of a chain (PEM), by the rules of SPIFFE for a
 * leaf: it has exactly one URI, which is a SPIFFE ID, and is not an authority. Pure.
 *
 * @param trustDomain the trust domain that it must be of; undefined for any
 */
export function svidIdentity(chain: string, trustDomain: string | undefined): SvidIdentity {
  const [leaf] = pemCertificates(pemBlocks(chain)[0] ?? '') ?? [];
  if (leaf === undefined) return { ok: false, reason: 'the certificate does not parse' };
  const uris = (leaf.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('URI:'));
  const [id = ''] = uris.map((name) => name.slice('URI:'.length));
  const domain = id.length > longest ? undefined : spiffeId.exec(id)?.groups?.['trustDomain'];
  if (uris.length !== 1 || domain === undefined)
    return { ok: false, reason: 'the certificate has no SPIFFE ID, or not exactly one URI' };
  if (leaf.ca) return { ok: false, reason: 'the certificate is that of an authority' };
  if (trustDomain !== undefined && domain !== trustDomain) {
    const reason = `the certificate is for ${id}, and the trust domain of this workload is ${trustDomain}`;
    return { ok: false, reason };
  }
  return { ok: true, id, trustDomain: domain };
}
