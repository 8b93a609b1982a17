import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type JsonGeneralName,
  PemConverter,
  Pkcs10CertificateRequest,
  type PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;
/** subjectAltName (RFC 5280 §4.2.1.6). */
const sanOid = '2.5.29.17';
const firstSerial = 0x1000;
const local = [
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
] as const;

/**
 * A server certificate with its key and its root, all PEM, and its serial as Node's TLS prints it
 * (upper-case hex).
 */
export interface Issued {
  readonly certChain: string;
  readonly key: string;
  readonly rootCert: string;
  readonly serial: string;
}

interface Validity {
  /** Default: a minute ago. */
  readonly notBefore?: Date;
  /** Default: in an hour. */
  readonly notAfter?: Date;
}

export interface CertificateAuthority {
  readonly rootCert: string;
  /** The key and the name that sign certificates, and CRLs in tests. */
  readonly issuer: {
    readonly subject: string;
    readonly keys: webcrypto.CryptoKeyPair;
    readonly algorithm: typeof algorithm;
  };
  /**
   * Issues a certificate with a new key for localhost and 127.0.0.1. Each serial is higher than the
   * last.
   */
  issue(validity?: Validity): Promise<Issued>;
  /** Issues a certificate (PEM) for the key and the names of a request (PKCS#10, PEM). */
  sign(
    csr: string,
    validity?: Validity,
  ): Promise<{ readonly certificate: string; readonly serial: string }>;
}

/**
 * Makes a new CA (ECDSA P-256) whose root is valid for ten years around now, so that tests can
 * issue expired certificates.
 */
export async function certificateAuthority(
  name = 'pilot-agent demo CA',
): Promise<CertificateAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 5 * 365 * 24 * hour),
    notAfter: new Date(Date.now() + 5 * 365 * 24 * hour),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const rootCert = `${root.toString('pem')}\n`;
  let serialNumber = firstSerial;

  const certify = async (
    publicKey: webcrypto.CryptoKey | PublicKey,
    names: readonly JsonGeneralName[],
    { notBefore = new Date(Date.now() - 60_000), notAfter = new Date(Date.now() + hour) }: Validity,
  ) => {
    const serial = (serialNumber++).toString(16).toUpperCase();
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serial,
      subject: 'CN=localhost',
      issuer: root.subject,
      notBefore,
      notAfter,
      signingAlgorithm: algorithm,
      publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new SubjectAlternativeNameExtension([...local, ...names]),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        await AuthorityKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return { certificate: `${certificate.toString('pem')}\n`, serial };
  };

  return {
    rootCert,
    issuer: { subject: root.subject, keys, algorithm },
    issue: async (validity = {}) => {
      const ownKeys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const { certificate, serial } = await certify(ownKeys.publicKey, [], validity);
      const key = PemConverter.encode(
        await webcrypto.subtle.exportKey('pkcs8', ownKeys.privateKey),
        'PRIVATE KEY',
      );
      return { certChain: certificate, key: `${key}\n`, rootCert, serial };
    },
    sign: async (csr, validity = {}) => {
      const request = new Pkcs10CertificateRequest(csr);
      if (!(await request.verify())) throw new Error('the request is not signed by its key');
      const names =
        (request.getExtension(sanOid) as SubjectAlternativeNameExtension | null)?.names.toJSON() ??
        [];
      return certify(request.publicKey, names, validity);
    },
  };
}

/** The files that Istio's agent mounts: name → content. */
export function certificateFiles({ certChain, key, rootCert }: Issued): Record<string, string> {
  return { 'cert-chain.pem': certChain, 'key.pem': key, 'root-cert.pem': rootCert };
}

/**
 * Puts the three files into `folder`, each by a rename; between two renames key and certificate do
 * not match. The key is 0600.
 */
export function writeCertificates(folder: string, issued: Issued): void {
  mkdirSync(folder, { recursive: true });
  const written = Object.entries(certificateFiles(issued)).map(([name, content]) => {
    const temporary = join(folder, `.${name}.${randomBytes(4).toString('hex')}`);
    writeFileSync(temporary, content, { mode: modeOf(name) });
    return { temporary, path: join(folder, name) };
  });
  // There is no pause between the renames, because a reader in between would get half of a pair.
  for (const { temporary, path } of written) renameSync(temporary, path);
}

/**
 * Puts `files` into `folder` as kubelet mounts a secret, and replaces existing files all at once.
 *
 * The files are in `..<timestamp>.<random>`, `..data` links there, and `<name>` links to
 * `..data/<name>`.
 */
export function writeKubernetesVolume(
  folder: string,
  files: Readonly<Record<string, string>>,
): void {
  mkdirSync(folder, { recursive: true });
  const newFolder = mkdtempSync(
    join(folder, `..${new Date().toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_')}.`),
  );
  chmodSync(newFolder, 0o755);
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(newFolder, name), content, { mode: modeOf(name) });

  const data = join(folder, '..data');
  const old = linkTarget(data);
  symlinkSync(basename(newFolder), join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), data);
  for (const name of Object.keys(files)) {
    if (linkTarget(join(folder, name)) === undefined)
      symlinkSync(join('..data', name), join(folder, name));
  }
  if (old !== undefined) rmSync(join(folder, old), { recursive: true });
}

function modeOf(name: string): number {
  return name === 'key.pem' ? 0o600 : 0o644;
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
