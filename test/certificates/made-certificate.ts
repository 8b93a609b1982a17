import { type KeyObject, sign } from 'node:crypto';

/** The content of a certificate. Times are in ms since 1970. */
export interface CertificateTerms {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  /** An EC key, which signs with ECDSA and SHA-256. */
  readonly signer: KeyObject;
  readonly serial: number;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  /**
   * The version of the certificate. Version 1 has no extensions by its definition, but OpenSSL
   * accepts them.
   */
  readonly version?: 1 | 3;
}

/** ASN.1 tags (X.690). */
const tag = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
/** The ASN.1 tags of the version, and of the extensions (RFC 5280 §4.1). */
const [version, extensions] = [0xa0, 0xa3];
/** The ASN.1 tags of a GeneralName (RFC 5280 §4.2.1.6). */
const [dnsName, ipAddress] = [0x82, 0x87];

const oid = {
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const;

function der(type: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...(length < 0x80 ? [length] : long)]), content]);
}

const hex = (type: number, text: string) => der(type, Buffer.from(text, 'hex'));
const sequence = (...parts: readonly Buffer[]) => der(tag.sequence, ...parts);

function nameOf(commonName: string): Buffer {
  return sequence(
    der(tag.set, sequence(hex(tag.oid, oid.commonName), der(tag.utf8, Buffer.from(commonName)))),
  );
}

function timeOf(ms: number): Buffer {
  return der(
    tag.generalizedTime,
    Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`),
  );
}

function bits(content: Buffer): Buffer {
  return der(tag.bits, Buffer.from([0]), content);
}

/**
 * Returns a certificate for localhost and 127.0.0.1 as DER. The code builds it by hand, because no
 * library would certify some kinds of public key.
 */
export function madeCertificate({
  subject,
  issuer,
  publicKey,
  signer,
  serial,
  version: number = 3,
  ...terms
}: CertificateTerms): Buffer {
  const algorithm = sequence(hex(tag.oid, oid.ecdsaWithSha256));
  const isAuthority = terms.isAuthority ? sequence(hex(0x01, 'ff')) : sequence();
  const names = sequence(
    der(dnsName, Buffer.from('localhost')),
    der(ipAddress, Buffer.from([127, 0, 0, 1])),
  );
  const toBeSigned = sequence(
    ...(number === 3 ? [der(version, hex(tag.integer, '02'))] : []),
    der(tag.integer, Buffer.from([0x10, serial >> 8, serial & 0xff])),
    algorithm,
    nameOf(issuer),
    sequence(timeOf(terms.notBefore), timeOf(terms.notAfter)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      extensions,
      sequence(
        sequence(hex(tag.oid, oid.basicConstraints), der(tag.octets, isAuthority)),
        sequence(hex(tag.oid, oid.subjectAltName), der(tag.octets, names)),
      ),
    ),
  );
  return sequence(toBeSigned, algorithm, bits(sign('sha256', toBeSigned, signer)));
}

/** Returns content as PEM, with 64 characters a line. */
export function pem(label: string, content: Buffer): string {
  return `-----BEGIN ${label}-----\n${content.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
}
