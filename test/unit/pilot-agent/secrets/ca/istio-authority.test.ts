import 'reflect-metadata';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { UnsecuredJWT } from 'jose';
import { lastValueFrom, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../../../../demo/certificates.ts';
import {
  authorityAddress,
  type IssueFailure,
} from '../../../../../src/pilot-agent/secrets/ca/authority.ts';
import {
  type Issue,
  issueCertificate,
  type IssueOptions,
  workloadIdentity,
} from '../../../../../src/pilot-agent/secrets/ca/issue-certificate.ts';
import {
  istioAuthority,
  type IstioAuthorityOptions,
} from '../../../../../src/pilot-agent/secrets/ca/istio-authority.ts';
import { pemCertificates } from '../../../../../src/shared/certificates/key-pair-flaw.ts';
import { type CaServer, startCaServer } from '../../../../support/ca-server.ts';

const jwt = (expires: number) =>
  new UnsecuredJWT({})
    .setSubject('system:serviceaccount:default:sleep')
    .setIssuedAt(0)
    .setExpirationTime(expires)
    .encode();
const later = Math.floor(Date.now() / 1000) + 3600;

const other = await certificateAuthority('another');

/** Returns the certificate of an authority that another one has issued. */
async function intermediate({ issuer }: CertificateAuthority, notAfter: Date): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    subject: issuer.subject,
    issuer: other.issuer.subject,
    notBefore: new Date(0),
    notAfter,
    signingAlgorithm: issuer.algorithm,
    publicKey: issuer.keys.publicKey,
    signingKey: other.issuer.keys.privateKey,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return certificate.toString('pem');
}

describe('a certificate of Istio’s authority', () => {
  let folder: string;
  let ca: CertificateAuthority;
  let server: CaServer;
  let token: string;

  const issue = (
    issueOptions: Partial<IssueOptions> = {},
    authorityOptions: Partial<IstioAuthorityOptions> = {},
  ): Promise<Issue> => {
    const authority = istioAuthority({
      address: `127.0.0.1:${server.port}`,
      roots: undefined,
      serverName: undefined,
      client: undefined,
      clusterId: 'c1',
      ...authorityOptions,
    });
    const issue$ = issueCertificate(authority, {
      token,
      client: authorityOptions.client,
      trustDomain: 'cluster.local',
      ttl: 3_600_000,
      algorithm: 'ECDSA',
      pkcs8: false,
      ...issueOptions,
    });
    const nothing: Issue = { ok: false, reason: 'nothing came', failure: 'refused', took: 0 };
    return lastValueFrom(issue$, { defaultValue: nothing });
  };
  const good = async (...options: Parameters<typeof issue>) => {
    const issued = await issue(...options);
    if (!issued.ok) throw new Error(issued.reason);
    return { ...issued, chain: issued.set.pair?.chain ?? '', key: issued.set.pair?.key ?? '' };
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'authority-'));
    token = join(folder, 'token');
    writeFileSync(token, `${jwt(later)}\n`);
    ca = await certificateAuthority();
    server = await startCaServer(ca);
  });
  afterEach(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('is for the identity of the token, for as long as was asked, with the root at its end', async () => {
    const { chain, set, expires } = await good();
    const [leaf, root] = pemCertificates(chain) ?? [];
    expect(leaf?.subjectAltName).toContain('URI:spiffe://cluster.local/ns/default/sa/sleep');
    expect(root?.toString().trim()).toBe(ca.rootCert.trim());
    expect(set.roots).toBe(ca.rootCert);
    expect(expires).toBe(Date.parse(leaf?.validTo ?? ''));
    expect(server.requests).toMatchObject([
      { ttl: 3600, authorization: `Bearer ${jwt(later)}`, clusterId: 'c1' },
    ]);
  });

  it.each([
    ['RSA', false, 'BEGIN RSA PRIVATE KEY', 'rsa'],
    ['RSA', true, 'BEGIN PRIVATE KEY', 'rsa'],
    ['ECDSA', false, 'BEGIN EC PRIVATE KEY', 'ec'],
    ['ECDSA', true, 'BEGIN PRIVATE KEY', 'ec'],
  ] as const)('has a key of %s, as PKCS#8: %s', async (algorithm, pkcs8, header, type) => {
    const { key } = await good({ algorithm, pkcs8 });
    expect(key.toString()).toContain(header);
    expect(createPrivateKey(key).asymmetricKeyType).toBe(type);
    if (type === 'rsa')
      expect(createPrivateKey(key).asymmetricKeyDetails?.modulusLength).toBe(2048);
  });

  it.each(['first', 'last'])(
    'may come with two roots, of which its own is the %s',
    async (place) => {
      const roots = place === 'first' ? [ca, other] : [other, ca];
      const text = roots.map(({ rootCert }) => rootCert).join('');
      server.answer = async ({ csr }) => [(await ca.sign(csr)).certificate, text];
      expect((await good()).set.roots).toBe(text);
    },
  );

  describe('from an intermediate authority', () => {
    const answerUntil = (notAfter: number) => {
      server.answer = async ({ csr }) => [
        (await ca.sign(csr)).certificate,
        await intermediate(ca, new Date(notAfter)),
        other.rootCert,
      ];
    };

    it('ends when the first certificate of its chain does', async () => {
      const soon = Math.ceil(Date.now() / 1_000) * 1_000 + 60_000;
      answerUntil(soon);
      expect((await good()).expires).toBe(soon);
    });

    it('is not taken if that authority has expired', async () => {
      answerUntil(Date.now() - 1_000);
      expect(await issue()).toMatchObject({
        reason: expect.stringContaining('certificate 2 of the chain has expired at') as string,
        failure: 'refused',
      });
    });
  });

  it('is asked for with the token of that moment', async () => {
    await good();
    writeFileSync(token, jwt(later + 1));
    await good();
    expect(server.requests.map(({ authorization }) => authorization)).toEqual([
      `Bearer ${jwt(later)}`,
      `Bearer ${jwt(later + 1)}`,
    ]);
  });

  it.each([
    [
      'an expired token',
      () => writeFileSync(token, jwt(1)),
      'the token has expired at 1970-01-01T00:00:01.000Z',
    ],
    ['an empty token', () => writeFileSync(token, '\n'), 'the token is empty'],
    ['no token', () => rmSync(token), 'the token is missing'],
    [
      'a token that is none',
      () => writeFileSync(token, 'faketoken'),
      'not that of a service account',
    ],
  ])(
    'is not asked for with %s, and says so: another may be there in a moment',
    async (_, prepare, reason) => {
      prepare();
      expect(await issue()).toMatchObject({
        ok: false,
        reason: expect.stringContaining(reason) as string,
        failure: 'fleeting',
      });
      expect(server.requests).toEqual([]);
    },
  );

  it.each(['\n', ' ', '\r\n', 'é', '\0'])(
    'is not asked for with a token that has %j inside, and the token is not shown',
    async (inside) => {
      writeFileSync(token, `${jwt(later)}${inside}signature`);
      expect(await issue()).toMatchObject({
        reason: `${token}: the token is not one word of ASCII`,
        failure: 'fleeting',
      });
    },
  );

  it('is not connected for if the request cannot be made', async () => {
    let connections = 0;
    const listener = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const issued = await issue({}, { address: `127.0.0.1:${port}`, clusterId: 'two\nlines' });
    expect(issued).toMatchObject({ ok: false, failure: 'fleeting' });
    await pause(200);
    listener.close();
    expect(connections).toBe(0);
  });

  const refusals: readonly (readonly [string, CaServer['answer'], string, IssueFailure])[] = [
    [
      'a chain of one',
      async ({ csr }) => [(await ca.sign(csr)).certificate],
      'at least 2 certificates',
      'refused',
    ],
    [
      'the wrong root',
      async ({ csr }) => [(await ca.sign(csr)).certificate, other.rootCert],
      'is not signed by the one that follows',
      'refused',
    ],
    [
      'the certificate of another key',
      async () => [(await ca.issue()).certChain, ca.rootCert],
      'the key does not match',
      'refused',
    ],
    ['garbage', () => Promise.resolve(['garbage', 'garbage']), 'does not parse', 'refused'],
    [
      'an expired certificate',
      async ({ csr }) => [
        (await ca.sign(csr, { notBefore: new Date(0), notAfter: new Date(1000) })).certificate,
        ca.rootCert,
      ],
      'has expired',
      'refused',
    ],
    [
      'a refusal of the token',
      () => Promise.resolve({ code: status.UNAUTHENTICATED, details: 'bad token' }),
      'bad token',
      'refused',
    ],
    [
      'a failure of its own',
      () => Promise.resolve({ code: status.UNAVAILABLE, details: 'busy' }),
      'busy',
      'fleeting',
    ],
  ];
  it.each(refusals)(
    'is not taken if the authority answers %s',
    async (_, answer, reason, failure) => {
      server.answer = answer;
      expect(await issue()).toMatchObject({
        ok: false,
        reason: expect.stringContaining(reason) as string,
        failure,
      });
    },
  );

  it('is tried for in vain, but soon again, if nobody listens', async () => {
    server.close();
    expect(await issue()).toMatchObject({ ok: false, failure: 'away' });
  });

  it('is asked for again as soon as somebody listens', async () => {
    const { port } = server;
    server.close();
    const authority = istioAuthority({
      address: `127.0.0.1:${port}`,
      roots: undefined,
      serverName: undefined,
      client: undefined,
      clusterId: '',
    });
    let isReached = false;
    const reached = lastValueFrom(authority.reached$.pipe(tap(() => (isReached = true))), {
      defaultValue: undefined,
    });
    expect(await issue()).toMatchObject({ failure: 'away' });
    expect(isReached).toBe(false);
    server = await startCaServer(ca, { port });
    const back = performance.now();
    await reached;
    expect(performance.now() - back).toBeLessThan(3_000);
  });

  it('is waited for as long as it is on its way', async () => {
    const sign = server.answer;
    server.answer = (request) => new Promise((done) => setTimeout(() => done(sign(request)), 300));
    expect((await good()).took).toBeGreaterThanOrEqual(299);
  });

  it('comes over TLS from an authority that the root vouches for, which is shown the provisioned pair', async () => {
    server.close();
    const [serverCertificate, client] = await Promise.all([ca.issue(), ca.issue()]);
    server = await startCaServer(ca, {
      tls: {
        asksClient: true,
        roots: ca.rootCert,
        chain: serverCertificate.certChain,
        key: serverCertificate.key,
      },
    });
    const [roots, chain, key, wrong] = ['root.pem', 'chain.pem', 'key.pem', 'wrong.pem'].map(
      (name) => join(folder, name),
    );
    writeFileSync(roots ?? '', ca.rootCert);
    writeFileSync(chain ?? '', client.certChain);
    writeFileSync(key ?? '', client.key);
    writeFileSync(wrong ?? '', other.rootCert);
    const authorityOptions = {
      roots,
      serverName: 'localhost',
      client: { chain: chain ?? '', key: key ?? '' },
    };
    await good({ token: join(folder, 'missing') }, authorityOptions);
    expect(server.requests).toMatchObject([{ client: 'localhost', authorization: '' }]);
    expect((await issue({}, { ...authorityOptions, roots: wrong })).ok).toBe(false);
    expect(await issue({}, { ...authorityOptions, roots: join(folder, 'missing') })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('missing: ENOENT') as string,
    });
    writeFileSync(token, jwt(1));
    await good({}, authorityOptions);
    expect(server.requests.at(-1)).toMatchObject({ client: 'localhost', authorization: '' });
  });

  describe('if the pair that it is to be shown does not work', () => {
    const pathOf = (name: string) => join(folder, name);
    const cases: readonly (readonly [
      string,
      (issued: Issued, expired: Issued) => Readonly<Record<string, string>>,
      string,
    ])[] = [
      ['is not there', () => ({}), 'chain.pem: ENOENT'],
      ['is half there', ({ certChain }) => ({ 'chain.pem': certChain }), 'key.pem: ENOENT'],
      ['is empty', () => ({ 'chain.pem': '', 'key.pem': '' }), 'chain.pem, '],
      [
        'has expired',
        (_, { certChain, key }) => ({ 'chain.pem': certChain, 'key.pem': key }),
        'the certificate has expired',
      ],
      [
        'is of two',
        ({ certChain }, { key }) => ({ 'chain.pem': certChain, 'key.pem': key }),
        'the key does not match',
      ],
    ];
    it.each(cases)(
      'since it %s, the token stands for it; without one its path is told',
      async (_, files, reason) => {
        server.close();
        const serverCertificate = await ca.issue();
        const expired = await ca.issue({
          notBefore: new Date(1_000_000),
          notAfter: new Date(2_000_000),
        });
        server = await startCaServer(ca, {
          tls: {
            asksClient: false,
            roots: ca.rootCert,
            chain: serverCertificate.certChain,
            key: serverCertificate.key,
          },
        });
        for (const [name, content] of Object.entries({
          'root.pem': ca.rootCert,
          ...files(serverCertificate, expired),
        }))
          writeFileSync(pathOf(name), content);
        const shown = {
          roots: pathOf('root.pem'),
          serverName: 'localhost',
          client: { chain: pathOf('chain.pem'), key: pathOf('key.pem') },
        };
        await good({}, shown);
        expect(server.requests).toMatchObject([
          { client: '', authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` },
        ]);
        rmSync(token);
        const failed = await issue({}, shown);
        expect(failed).toMatchObject({
          ok: false,
          reason: expect.stringContaining(reason) as string,
        });
        expect(failed).toMatchObject({
          reason: expect.stringContaining(`the token is missing: ${token}: ENOENT`) as string,
        });
      },
    );
  });
});

describe('authorityAddress', () => {
  it.each([
    [
      'istiod.istio-system.svc:15012',
      'istiod',
      '',
      { roots: 'var/run/secrets/istio/root-cert.pem', serverName: undefined },
    ],
    ['istiod:15012', 'istiod', '/prov', { roots: '/prov/root-cert.pem', serverName: undefined }],
    [
      'istiod:15012',
      'kubernetes',
      '',
      { roots: './var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
    ],
    ['istiod:15012', 'custom', '', { roots: './etc/certs/root-cert.pem' }],
    ['istiod:15010', 'istiod', '', { roots: undefined }],
    ['istio-citadel:8060', 'istiod', '', { serverName: 'istio-citadel' }],
    ['localhost:15012', 'istiod', '', { serverName: 'istiod.istio-system.svc' }],
  ])('of %s by %s', (address, provider, provisioned, expected) => {
    expect(authorityAddress(address, provider, provisioned)).toMatchObject({
      address,
      ...expected,
    });
  });

  it('knows no other provider', () => {
    expect(authorityAddress('a:1', 'nobody', '')).toBeUndefined();
  });
});

describe('workloadIdentity', () => {
  it('is the service account of the token, in the trust domain', () => {
    expect(workloadIdentity(jwt(later), 'cluster.local')).toBe(
      'spiffe://cluster.local/ns/default/sa/sleep',
    );
    expect(workloadIdentity(jwt(later), 'fooDomain')).toBe(
      'spiffe://fooDomain/ns/default/sa/sleep',
    );
    expect(workloadIdentity('faketoken', 'cluster.local')).toBeUndefined();
  });
});
