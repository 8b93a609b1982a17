import { pemCertificates } from '../secrets/pem-certificates.ts';

/** Why what an authority has answered is no chain from a leaf to its root; undefined if it is one. Whether the key fits is not looked at. Pure. */
export function chainFlaw(chain: readonly string[]): string | undefined {
  if (chain.length < 2) return `a chain of ${chain.length} has no root: at least 2 certificates are needed`;
  const parsed = chain.map((pem) => pemCertificates(pem) ?? []);
  if (parsed.some((certificates) => certificates.length === 0)) return 'a certificate of the chain does not parse';
  const certificates = parsed.flat();
  const broken = certificates.some((certificate, index) => {
    const issuer = certificates[index + 1];
    return issuer !== undefined && !(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
  });
  return broken ? 'a certificate of the chain is not signed by the one that follows it' : undefined;
}
