import { X509Certificate } from 'node:crypto';

/** The certificates of a PEM text, in their order; undefined if one of them does not parse. Other blocks, and text between, are passed over. */
export function pemCertificates(text: string): readonly X509Certificate[] | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}
