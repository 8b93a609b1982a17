const block = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]*)-----END X509 CRL-----/g;
const begin = /-----BEGIN X509 CRL-----/g;

/**
 * Returns why a list of revoked certificates, in PEM, cannot be used; undefined if it can. Reads
 * only the PEM and the outermost element of each list. Pure.
 */
export function crlFlaw(text: string): string | undefined {
  const bodies = crlBodies(text);
  return typeof bodies === 'string' ? bodies : undefined;
}

/** Returns the CRLs of a PEM text, each as DER; or why they cannot be read. Pure. */
export function crlBodies(text: string): readonly Buffer[] | string {
  const bodies = [...text.matchAll(block)].map(([, body = '']) => Buffer.from(body, 'base64'));
  const begins = text.match(begin)?.length ?? 0;
  if (begins === 0) return 'it has no X509 CRL';
  return bodies.length === begins && bodies.every(isSequence)
    ? bodies
    : 'an X509 CRL does not parse';
}

/** Whether the bytes are one SEQUENCE of DER, and nothing else. */
function isSequence(der: Buffer): boolean {
  const [tag, first = 0] = der;
  if (tag !== 0x30) return false;
  if (first < 0x80) return der.length === first + 2;
  const count = first & 0x7f;
  if (count < 1 || count > 4 || der.length < count + 2) return false;
  return der.length === der.readUIntBE(2, count) + count + 2;
}
