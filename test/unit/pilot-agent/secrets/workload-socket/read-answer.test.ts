import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../../demo/certificates.ts';
import {
  readBundle,
  readSvid,
} from '../../../../../src/pilot-agent/secrets/workload-socket/read-answer.ts';
import {
  secretTypeUrl,
  toResponse,
} from '../../../../../src/pilot-agent/secrets/sds/sds-messages.ts';
import { secretVersion } from '../../../../../src/pilot-agent/secrets/secret.ts';
import {
  type Secret,
  SecretSchema,
} from '../../../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { DiscoveryResponseSchema } from '../../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { bundleOf, plainRoots, svidOf } from '../../../../support/workload-socket.ts';

const ca = await certificateAuthority();
const other = await certificateAuthority('another');
const id = 'spiffe://mesh.example/ns/shop/sa/cart';

const answer = (...secrets: readonly Secret[]) =>
  create(DiscoveryResponseSchema, {
    resources: secrets.map((secret) => ({
      typeUrl: secretTypeUrl,
      value: toBinary(SecretSchema, secret),
    })),
  });
const svid = (secret: Secret, trustDomain?: string) =>
  readSvid(answer(secret), 'default', { trustDomain, now: Date.now() });
const bundle = (secret: Secret) => readBundle(answer(secret), 'ROOTCA');

describe('a certificate from the workload socket', () => {
  it('is taken with its identity', async () => {
    const { secret, chain } = await svidOf(ca, id);
    const read = svid(secret, 'mesh.example');
    expect(read).toMatchObject({ ok: true, content: { id, trustDomain: 'mesh.example' } });
    expect(read.ok && read.content.pair.chain).toBe(chain);
    expect(svid(secret)).toMatchObject({ ok: true });
  });

  it('is refused if the trust domain is another one than that of the workload', async () => {
    const { secret } = await svidOf(ca, id);
    expect(svid(secret, 'cluster.local')).toEqual({
      ok: false,
      reason: `the certificate is for ${id}, and the trust domain of this workload is cluster.local`,
    });
  });

  it.each([
    ['a name of DNS', 'cart.example'],
    ['a URI of another kind', 'https://mesh.example/ns/shop'],
    ['no path', 'spiffe://mesh.example'],
    ['a query', 'spiffe://mesh.example/ns/shop?admin'],
    ['a port', 'spiffe://mesh.example:80/ns/shop'],
    ['upper case in the trust domain', 'spiffe://Mesh.example/ns/shop'],
    ['an empty part', 'spiffe://mesh.example//shop'],
  ])('is refused with %s instead of a SPIFFE ID', async (_, name) => {
    const { secret } = await svidOf(ca, name);
    expect(svid(secret)).toEqual({
      ok: false,
      reason: 'the certificate has no SPIFFE ID, or not exactly one URI',
    });
  });

  it('is refused if the key is that of another certificate', async () => {
    const [first, second] = await Promise.all([svidOf(ca, id), svidOf(ca, id)]);
    const [chain, key] = [first, second].map(({ secret: { type } }) =>
      type.case === 'tlsCertificate' ? type.value : undefined,
    );
    const value = {
      ...(chain?.certificateChain && { certificateChain: chain.certificateChain }),
      ...(key?.privateKey && { privateKey: key.privateKey }),
    };
    const mixed = create(SecretSchema, {
      name: 'default',
      type: { case: 'tlsCertificate', value },
    });
    expect(svid(mixed)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the key does not match the certificate') as string,
    });
  });

  it('is refused if it has expired', async () => {
    const { secret } = await svidOf(ca, id, { notAfter: new Date(Date.now() - 500) });
    expect(svid(secret)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the certificate has expired') as string,
    });
  });

  it('is refused if it is not in the answer, or is something else', async () => {
    const { secret } = await svidOf(ca, id);
    expect(readSvid(answer(), 'default', { trustDomain: undefined, now: 0 })).toEqual({
      ok: false,
      reason: 'its answer has no secret default',
    });
    expect(svid({ ...plainRoots(ca.rootCert), name: 'default' })).toEqual({
      ok: false,
      reason: 'it is not a certificate with a key',
    });
    expect(bundle({ ...secret, name: 'ROOTCA' })).toEqual({ ok: false, reason: 'it has no roots' });
  });
});

describe('roots from the workload socket', () => {
  it('are the same for all, or each for its trust domain', () => {
    expect(bundle(plainRoots(ca.rootCert))).toEqual({
      ok: true,
      content: { kind: 'plain', roots: ca.rootCert },
    });
    const trustDomains = [
      { name: 'mesh.example', roots: ca.rootCert },
      { name: 'other.example', roots: other.rootCert },
    ];
    const two = bundleOf({ 'mesh.example': ca.rootCert, 'other.example': other.rootCert });
    expect(bundle(two)).toEqual({ ok: true, content: { kind: 'by-domain', trustDomains } });
  });

  it('are refused if those of one trust domain do not parse', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    const two = bundleOf({ 'mesh.example': ca.rootCert, 'other.example': broken });
    expect(bundle(two)).toEqual({
      ok: false,
      reason: 'a root certificate does not parse, in the roots of other.example',
    });
    expect(bundle(bundleOf({}))).toEqual({ ok: false, reason: 'it has no roots' });
  });

  it('are refused with a validator that the agent does not know', () => {
    const typedConfig = { typeUrl: 'type.googleapis.com/other', value: new Uint8Array() };
    const customValidatorConfig = { name: 'other', typedConfig };
    const secret = create(SecretSchema, {
      name: 'ROOTCA',
      type: { case: 'validationContext', value: { customValidatorConfig } },
    });
    expect(bundle(secret)).toEqual({
      ok: false,
      reason: 'its roots have a validator that the agent does not know',
    });
  });

  it('are refused with a condition that would be lost, such as a list of revoked certificates', () => {
    const crl = { specifier: { case: 'inlineBytes', value: Buffer.from('crl') } } as const;
    const secret = create(SecretSchema, {
      name: 'ROOTCA',
      type: { case: 'validationContext', value: { trustedCa: crl, crl } },
    });
    expect(bundle(secret)).toEqual({
      ok: false,
      reason: 'its roots have a condition that the agent does not pass on',
    });
  });

  it('reach Envoy with the trust domain that each is for, and have a version of their own', () => {
    const trustDomains = [{ name: 'mesh.example', roots: ca.rootCert }];
    const plain = { kind: 'roots', roots: ca.rootCert } as const;
    const secret = { ...plain, trustDomains };
    const version = secretVersion(secret);
    expect(version).not.toBe(secretVersion(plain));
    const sent = toResponse({
      nonce: '1',
      version,
      secrets: new Map([['ROOTCA', { secret, version }]]),
    });
    expect(readBundle(sent, 'ROOTCA')).toEqual({
      ok: true,
      content: { kind: 'by-domain', trustDomains },
    });
  });
});
