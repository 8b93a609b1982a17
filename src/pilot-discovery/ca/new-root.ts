import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { privateKeyPem } from '../../shared/certificates/private-key-pem.ts';
import { backdated } from './certify.ts';
import {
  extensions,
  keyIdOf,
  signingAlgorithm,
  subjectName,
  writeCertificate,
} from './write-certificate.ts';

/** A self-signed root with its key, both PEM. */
export interface NewRoot {
  readonly certificate: string;
  /** Overwrite it once the root is stored. */
  readonly key: Buffer;
}

const subject = subjectName('pilot-discovery', 'root of the mesh');

/**
 * Makes a self-signed root. Rejects only by a bug.
 *
 * @param lifetime in ms
 * @param now ms since 1970
 */
export async function newRoot(lifetime: number, now: number): Promise<NewRoot> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = signingAlgorithm(privateKey);
  if (algorithm === undefined) throw new Error('P-256 does not sign');
  const content = {
    serialNumber: randomBytes(16),
    issuer: subject,
    subject,
    notBefore: now - backdated,
    notAfter: now + lifetime,
    publicKey,
    extensions: [...extensions.ofRoot, extensions.subjectKeyId(keyIdOf(publicKey))],
  };
  const certificate = await writeCertificate(content, privateKey, algorithm);
  return { certificate, key: privateKeyPem(privateKey, 'pkcs8') };
}
