import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../../demo/certificates.ts';
import { keyPairFlaw, pemCertificates } from '../../../../src/shared/certificates/key-pair-flaw.ts';

const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2026, 0, 2);
const noon = Date.UTC(2026, 0, 1, 12);

describe('keyPairFlaw', () => {
  let issued: Issued;
  let other: Issued;
  let root: string;
  const encrypted = () =>
    createPrivateKey(issued.key)
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
      .toString();

  /**
   * Returns the first certificate of a chain with other bytes in place of some; its signature is
   * wrong.
   */
  const withBytes = (chain: string, old: Buffer, bytes: Buffer) => {
    const { raw } = new X509Certificate(chain);
    bytes.copy(raw, raw.indexOf(old));
    return `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;
  };
  const withTime = (text: string) =>
    withBytes(issued.certChain, Buffer.from('260102000000Z'), Buffer.from(text));
  /** Returns a certificate whose point is not on the curve. */
  const withoutKey = (chain: string) => {
    const key = new X509Certificate(chain).publicKey.export({ type: 'spki', format: 'der' });
    const broken = Buffer.from(key);
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
    return withBytes(chain, key, broken);
  };

  it('has no certificate with a time that is none among those that it lists', () => {
    expect(pemCertificates(issued.certChain)).not.toBeUndefined();
    expect(pemCertificates(issued.certChain + withTime('269901000000Z'))).toBeUndefined();
  });

  beforeAll(async () => {
    const ca = await certificateAuthority();
    root = ca.rootCert;
    [issued, other] = await Promise.all([
      ca.issue({ notBefore: new Date(from), notAfter: new Date(to) }),
      ca.issue({ notBefore: new Date(from), notAfter: new Date(to) }),
    ]);
  });

  it.each<{
    what: string;
    chain?: () => string;
    key?: () => string;
    now?: number;
    flaw: string | undefined;
  }>([
    { what: 'none in a good pair', flaw: undefined },
    { what: 'none in the first moment of its time', now: from, flaw: undefined },
    {
      what: 'a certificate whose time has not come',
      now: from - 1,
      flaw: 'the certificate is not valid before Jan  1 00:00:00 2026 GMT: look at the clock of this machine',
    },
    { what: 'none in the last moment of its time', now: to - 1, flaw: undefined },
    {
      what: 'an expired certificate',
      now: to,
      flaw: 'the certificate has expired at Jan  2 00:00:00 2026 GMT: issue a new one',
    },
    {
      what: 'a time that is none',
      chain: () => withTime('269901000000Z'),
      flaw: 'the certificate has an unreadable time',
    },
    {
      what: 'a certificate with a public key that cannot be read',
      chain: () => withoutKey(issued.certChain),
      flaw: 'the key of the certificate cannot be read',
    },
    {
      what: 'none in a chain with such a certificate behind: Envoy takes it',
      chain: () => issued.certChain + withoutKey(root),
      flaw: undefined,
    },
    {
      what: 'such a certificate behind a chain with another key',
      chain: () => issued.certChain + withoutKey(root),
      key: () => other.key,
      flaw: expect.stringContaining('the key does not match the certificate (') as string,
    },
    {
      what: 'the key of another certificate',
      key: () => other.key,
      flaw: expect.stringContaining('the key does not match the certificate (') as string,
    },
    { what: 'a key that is garbage', key: () => 'garbage', flaw: 'the key does not parse' },
    { what: 'an empty key', key: () => '', flaw: 'the key does not parse' },
    { what: 'half a key', key: () => issued.key.slice(0, 80), flaw: 'the key does not parse' },
    {
      what: 'a certificate in place of the key',
      key: () => issued.certChain,
      flaw: 'the key does not parse',
    },
    { what: 'none in an encrypted key: it can not be compared', key: encrypted, flaw: undefined },
    {
      what: 'a certificate that is garbage',
      chain: () => 'garbage',
      flaw: 'the certificate does not parse',
    },
    { what: 'an empty certificate', chain: () => '', flaw: 'the certificate does not parse' },
    {
      what: 'half a certificate',
      chain: () => issued.certChain.slice(0, 200),
      flaw: 'the certificate does not parse',
    },
    {
      what: 'none in a chain with its root behind',
      chain: () => issued.certChain + root,
      flaw: undefined,
    },
    {
      what: 'a chain with its root in front',
      chain: () => root + issued.certChain,
      flaw: expect.stringContaining('the key does not match the certificate (') as string,
    },
  ])('$what', ({ chain, key, now = noon, flaw }) => {
    expect(
      keyPairFlaw(chain?.() ?? issued.certChain, Buffer.from(key?.() ?? issued.key), now),
    ).toEqual(flaw);
  });

  it('tells the certificate and the key that do not match apart, by what openssl prints', () => {
    const fingerprint = (key: string) =>
      execFileSync('sh', ['-c', 'openssl pkey -pubout -outform DER | sha256sum'], {
        input: key,
        encoding: 'utf8',
      }).slice(0, 16);
    const [subject = '', serial = ''] = execFileSync(
      'openssl',
      ['x509', '-noout', '-subject', '-serial', '-nameopt', 'RFC2253'],
      { input: issued.certChain, encoding: 'utf8' },
    )
      .split('\n')
      .map((line) => line.slice(line.indexOf('=') + 1).trim());
    expect(keyPairFlaw(issued.certChain, Buffer.from(other.key), noon)).toBe(
      `the key does not match the certificate (subject ${subject || 'none'}, serial ${serial}, public key ${fingerprint(issued.key)}; the public key of the private key is ${fingerprint(other.key)}): both have to be of one pair`,
    );
  });

  it('knows the certificate that the key is of if that is not the first', () => {
    expect(keyPairFlaw(root + issued.certChain, Buffer.from(issued.key), noon)).toMatch(
      /: it is that of certificate 2 of the chain, which has to be the first$/,
    );
  });
});
