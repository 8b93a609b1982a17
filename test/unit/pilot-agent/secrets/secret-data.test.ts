import { beforeAll, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../../../demo/certificates.ts';
import { secretReading } from '../../../../src/pilot-agent/secrets/secret-data.ts';

let ca: CertificateAuthority;
let issued: Issued;
beforeAll(async () => {
  ca = await certificateAuthority();
  issued = await ca.issue();
});
const read = (data: Readonly<Record<string, string>>, name = 'shop') =>
  secretReading(
    'Secret ns/shop',
    name,
    Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)])),
    Date.now(),
  );

describe('the data of a Secret', () => {
  it('of kubernetes.io/tls is a pair, and roots if it has them; the key stays bytes', () => {
    const { certChain, key } = issued;
    const pair = { chain: certChain, key: Buffer.from(key) };
    expect(read({ 'tls.crt': certChain, 'tls.key': key })).toEqual({
      type: 'set',
      source: 'Secret ns/shop',
      set: { pair },
    });
    expect(read({ 'tls.crt': certChain, 'tls.key': key, 'ca.crt': ca.rootCert })).toMatchObject({
      set: { pair, roots: ca.rootCert },
    });
  });

  it('of a generic one is the same, and wins', async () => {
    const other = await ca.issue();
    const data = {
      cert: issued.certChain,
      key: issued.key,
      cacert: ca.rootCert,
      'tls.crt': other.certChain,
      'tls.key': other.key,
    };
    expect(read(data)).toMatchObject({
      set: { pair: { chain: issued.certChain }, roots: ca.rootCert },
    });
    expect(read({ ...data, key: '', cert: '' })).toMatchObject({
      refused: { pair: 'Secret ns/shop: cert, key: the certificate is empty' },
    });
  });

  it('whose name ends with -cacert may have its root where a certificate is otherwise', () => {
    expect(read({ 'tls.crt': ca.rootCert }, 'shop-cacert')).toEqual({
      type: 'set',
      source: 'Secret ns/shop',
      set: { roots: ca.rootCert },
    });
    expect(read({ 'tls.crt': ca.rootCert })).toMatchObject({
      type: 'refused',
      reason: 'Secret ns/shop: tls.key: the key is missing',
    });
  });

  it('that cannot be served is refused, with the keys that are wrong', async () => {
    const other = await ca.issue();
    expect(read({})).toMatchObject({
      type: 'refused',
      reason: 'Secret ns/shop: neither a certificate nor a root is there',
    });
    expect(read({ 'tls.key': other.key })).toMatchObject({
      reason: 'Secret ns/shop: tls.crt: the certificate is missing',
    });
    expect(read({ 'tls.crt': issued.certChain, 'tls.key': other.key })).toMatchObject({
      reason: expect.stringContaining(
        'Secret ns/shop: tls.crt, tls.key: the key does not match the certificate (',
      ) as string,
    });
    expect(secretReading('a', 'a', 'text', 0)).toEqual({
      type: 'refused',
      source: 'a',
      reason: 'a: it is a single text, and not a Secret with a key for each part',
    });
  });
});
