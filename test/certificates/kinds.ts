import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto';
import { type CertificateTerms, madeCertificate, pem } from './made-certificate.ts';

/** The files of a workload, of one kind. */
export interface CertificateKind {
  readonly name: string;
  readonly chain: Buffer;
  readonly key: Buffer;
  readonly roots: Buffer;
}

type Terms = Partial<Pick<CertificateTerms, 'notBefore' | 'notAfter' | 'version' | 'serial'>>;

const day = 86_400_000;
const bom = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Returns kinds of file that people mount, good and bad, valid for a day around `now` (ms since
 * 1970).
 */
export function certificateKinds(now: number): readonly CertificateKind[] {
  const numbers = { serial: 0 };
  const times = { notBefore: now - day, notAfter: now + day };
  const [rootKeys, middleKeys, otherRootKeys, leafKeys, otherKeys] = [ec(), ec(), ec(), ec(), ec()];

  function certificate(
    subject: string,
    issuer: string,
    publicKey: KeyObject,
    signer: KeyObject,
    more: Terms = {},
  ): string {
    const isAuthority = subject !== 'leaf';
    const terms = {
      serial: ++numbers.serial,
      ...times,
      ...more,
      subject,
      issuer,
      publicKey,
      signer,
      isAuthority,
    };
    return pem('CERTIFICATE', madeCertificate(terms));
  }
  const root = certificate('root', 'root', rootKeys.publicKey, rootKeys.privateKey);
  const middle = certificate('middle', 'root', middleKeys.publicKey, rootKeys.privateKey);
  const otherRoot = certificate(
    'other',
    'other',
    otherRootKeys.publicKey,
    otherRootKeys.privateKey,
  );
  const leafFor = (publicKey: KeyObject, more: Terms = {}) =>
    certificate('leaf', 'middle', publicKey, middleKeys.privateKey, more);
  const leaf = leafFor(leafKeys.publicKey);
  const key = pkcs8(leafKeys.privateKey);
  const usual = { chain: leaf + middle, key, roots: root };

  const kind = (
    name: string,
    files: Partial<Record<'chain' | 'key' | 'roots', string | Buffer>>,
  ): CertificateKind => {
    const { chain, key, roots } = { ...usual, ...files };
    return { name, chain: Buffer.from(chain), key: Buffer.from(key), roots: Buffer.from(roots) };
  };
  const ofKeys = (
    name: string,
    { publicKey, privateKey }: KeyPairKeyObjectResult,
    keyText = pkcs8(privateKey),
  ) => kind(name, { chain: leafFor(publicKey) + middle, key: keyText });
  const everywhere = (name: string, change: (text: string) => string | Buffer) =>
    kind(name, { chain: change(usual.chain), key: change(usual.key), roots: change(usual.roots) });

  const rsa = rsaOf(2_048);
  const wrapped = (
    type: 'pkcs1' | 'sec1' | 'pkcs8',
    { privateKey }: KeyPairKeyObjectResult,
    more = {},
  ) => privateKey.export({ type, format: 'pem', ...more }).toString();
  const password = { cipher: 'aes-128-cbc', passphrase: 'secret' };

  return [
    // Chains
    kind('leaf and intermediate', {}),
    kind('leaf, intermediate and root', { chain: leaf + middle + root }),
    kind('leaf without the intermediate', { chain: leaf }),
    kind('the root is the issuing intermediate', { chain: leaf, roots: middle }),
    kind('the root is the leaf', { chain: leaf, roots: leaf }),
    kind('the intermediate before the leaf', { chain: middle + leaf }),
    kind('the leaf twice', { chain: leaf + leaf + middle }),
    kind('a stranger after the leaf', { chain: leaf + otherRoot }),
    kind('100 certificates', { chain: leaf + middle.repeat(99) }),
    kind('101 certificates', { chain: leaf + middle.repeat(100) }),
    kind('an expired leaf', {
      chain:
        leafFor(leafKeys.publicKey, { notBefore: now - 2 * day, notAfter: now - day }) + middle,
    }),
    kind('a leaf of tomorrow', {
      chain: leafFor(leafKeys.publicKey, { notBefore: now + day / 2 }) + middle,
    }),
    kind('an expired root', {
      roots: certificate('root', 'root', rootKeys.publicKey, rootKeys.privateKey, {
        notBefore: now - 2 * day,
        notAfter: now - day,
      }),
    }),
    kind('two roots', { roots: otherRoot + root }),
    kind('the same root twice', { roots: root + root }),
    kind('the key of another', { key: pkcs8(otherKeys.privateKey) }),
    kind('a certificate of the chain is cut', { chain: leaf + middle.slice(0, middle.length / 2) }),
    kind('a root of the bundle is cut', { roots: root + otherRoot.slice(0, otherRoot.length / 2) }),
    kind('a root of the bundle is garbage', {
      roots: root + pem('CERTIFICATE', Buffer.alloc(100, 7)),
    }),
    kind('version 1 with extensions', {
      chain: leafFor(leafKeys.publicKey, { version: 1 }) + middle,
    }),
    kind('empty roots', { roots: '' }),
    kind('an empty key', { key: '' }),
    kind('an empty chain', { chain: '' }),

    // Line ends
    everywhere('lines end with CRLF', (text) => text.replaceAll('\n', '\r\n')),
    everywhere('lines end with CR', (text) => text.replaceAll('\n', '\r')),
    everywhere('no line end at the end', (text) => text.trimEnd()),
    everywhere('no line end between two', (text) => text.replaceAll('-----\n-----', '----------')),
    everywhere(
      'blank lines around',
      (text) => `\n\n${text.replaceAll('-----\n-----', '-----\n\n\n-----')}\n\n`,
    ),
    everywhere('a blank line within', (text) => text.replaceAll(/(-----BEGIN.*\n.*\n)/g, '$1\n')),
    everywhere('blanks at the end of lines', (text) => text.replaceAll('\n', '  \n')),
    everywhere('lines are indented', (text) => text.replaceAll(/^(?=.)/gm, '  ')),
    everywhere('base64 in one line', (text) => text.replaceAll(/(?<!-)\n(?!-)/g, '')),
    everywhere('text before and between', (text) =>
      text.replaceAll('-----BEGIN', 'Bag Attributes\n    friendlyName: ä\n-----BEGIN'),
    ),
    everywhere('text with hyphens between', (text) =>
      text.replaceAll('-----BEGIN', 'issuer=my-mesh - root\n-----BEGIN'),
    ),

    // Encodings
    kind('a BOM before the chain', { chain: Buffer.concat([bom, Buffer.from(usual.chain)]) }),
    kind('a BOM before a leaf alone', { chain: Buffer.concat([bom, Buffer.from(leaf)]) }),
    kind('a BOM before the key', { key: Buffer.concat([bom, Buffer.from(key)]) }),
    kind('a BOM before the root', { roots: Buffer.concat([bom, Buffer.from(root)]) }),
    kind('a BOM before two roots', { roots: Buffer.concat([bom, Buffer.from(root + otherRoot)]) }),
    everywhere('UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
    everywhere('DER', (text) =>
      Buffer.from(text.replaceAll(/-----.*-----/g, '').split('\n\n')[0] ?? '', 'base64'),
    ),
    everywhere('base64 without its frame', (text) => text.replaceAll(/-----.*-----\n/g, '')),
    everywhere('base64 of PEM', (text) => Buffer.from(text).toString('base64')),
    everywhere('NUL at the end', (text) => `${text}\0`),
    everywhere('NUL before', (text) => `\0${text}`),

    // Key types
    ofKeys('RSA 2048', rsa),
    ofKeys('RSA 1024', rsaOf(1_024)),
    ofKeys('RSA 2047', rsaOf(2_047)),
    ofKeys('RSA 3072', rsaOf(3_072)),
    ofKeys('RSA-PSS', generateKeyPairSync('rsa-pss', { modulusLength: 2_048 })),
    ofKeys('P-224', ec('P-224')),
    ofKeys('P-384', ec('P-384')),
    ofKeys('P-521', ec('P-521')),
    ofKeys('secp256k1', ec('secp256k1')),
    ofKeys(
      'P-256 with explicit parameters',
      generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' }),
    ),
    ofKeys('Ed25519', generateKeyPairSync('ed25519')),
    ofKeys('Ed448', generateKeyPairSync('ed448')),
    ofKeys('X25519', generateKeyPairSync('x25519')),

    // Wrappings
    ofKeys('PKCS#1', rsa, wrapped('pkcs1', rsa)),
    ofKeys('SEC 1', leafKeys, wrapped('sec1', leafKeys)),
    ofKeys(
      'SEC 1 behind EC PARAMETERS',
      leafKeys,
      pem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex')) + wrapped('sec1', leafKeys),
    ),
    ofKeys('encrypted PKCS#8', leafKeys, wrapped('pkcs8', leafKeys, password)),
    ofKeys('encrypted PKCS#1', rsa, wrapped('pkcs1', rsa, password)),
    ofKeys('encrypted SEC 1', leafKeys, wrapped('sec1', leafKeys, password)),
    ofKeys(
      'PKCS#1 called PRIVATE KEY',
      rsa,
      wrapped('pkcs1', rsa).replaceAll('RSA PRIVATE', 'PRIVATE'),
    ),
    ofKeys('PKCS#8 called EC PRIVATE KEY', leafKeys, key.replaceAll('PRIVATE', 'EC PRIVATE')),
    kind('a public key for a key', {
      key: leafKeys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    }),
    kind('two keys, the right one first', { key: key + pkcs8(otherKeys.privateKey) }),
    kind('two keys, the right one last', { key: pkcs8(otherKeys.privateKey) + key }),
    kind('the chain before the key in one file', { key: usual.chain + key }),
    kind('the key before the chain in one file', { chain: key + usual.chain }),
    kind('the key after the chain in one file', { chain: usual.chain + key }),
    kind('TRUSTED CERTIFICATE', { roots: root.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE') }),
    everywhere('X509 CERTIFICATE', (text) => text.replaceAll(' CERTIFICATE', ' X509 CERTIFICATE')),
    kind('a key in the roots', { roots: root + key }),
    kind('roots without a certificate', { roots: key }),
    kind('roots that are a text', { roots: 'there is no root here\n' }),
  ];
}

function ec(namedCurve = 'P-256'): KeyPairKeyObjectResult {
  return generateKeyPairSync('ec', { namedCurve });
}

function rsaOf(modulusLength: number): KeyPairKeyObjectResult {
  return generateKeyPairSync('rsa', { modulusLength });
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
