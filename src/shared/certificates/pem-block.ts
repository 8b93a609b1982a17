/** Returns a block of PEM with bytes of DER, in lines of 64 characters, as OpenSSL does. Pure. */
export function pemBlock(label: 'CERTIFICATE' | 'X509 CRL', der: Buffer): string {
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
