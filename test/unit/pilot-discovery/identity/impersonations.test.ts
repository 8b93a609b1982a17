import 'reflect-metadata';
import { ExtendedKeyUsage } from '@peculiar/x509';
import { asyncScheduler, ReplaySubject, of, type Subscription } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { credentials, status } from '@grpc/grpc-js';
import { identifyBy } from '../../../../src/pilot-discovery/identity/identify.ts';
import type { ServingEvent } from '../../../../src/pilot-discovery/identity/serving-files.ts';
import { typeUrls } from '../../../../src/pilot-discovery/push/view.ts';
import { DeltaDiscoveryRequestSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { DiscoveryEvent } from '../../../../src/pilot-discovery/state/discovery-event.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { askSecurely, openDelta, type SecureProxy } from '../../../support/secure-client.ts';
import { testCrl } from '../../../support/test-crl.ts';
import { servedSecurely } from '../../../support/served-securely.ts';
import {
  uri,
  type WorkloadAuthority,
  workloadAuthority,
  type WorkloadNames,
  type WorkloadPair,
} from '../../../support/workload-authority.ts';

const day = 86_400_000;
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const shopSpiffe = 'spiffe://cluster.local/ns/shop/sa/web';
const ofShop = node('web-0.shop', { NAMESPACE: 'shop', SERVICE_ACCOUNT: 'web' });

function node(workload: string, metadata: JsonObject = {}) {
  return { id: `sidecar~10.0.0.1~${workload}~shop.svc.cluster.local`, metadata };
}

describe('the secure port', () => {
  const events: DiscoveryEvent[] = [];
  let authority: WorkloadAuthority;
  let other: WorkloadAuthority;
  const serving$ = new ReplaySubject<ServingEvent>(1);
  let served: WorkloadPair;
  let port: number;
  let running: Subscription;

  beforeAll(async () => {
    [authority, other] = await Promise.all([workloadAuthority(), workloadAuthority('other')]);
    served = await authority.issue({ names: [{ type: 'dns', value: 'istiod.test' }] });
    serve(authority.root);
    [port = 0] = await freePorts(1);
    const identify$ = identifyBy(of('cluster.local'), undefined, asyncScheduler);
    running = await servedSecurely(port, { serving$, identify$ }, events);
  });
  afterAll(() => running.unsubscribe());

  /** Serves with other roots, and the same certificate. */
  const serve = (roots: string, crl = '') => {
    const { chain, key } = served;
    serving$.next({ type: 'serving', serving: { chain, key: Buffer.from(key), roots, crl } });
  };
  const asks = (pair: WorkloadPair | undefined, ...nodes: SecureProxy['nodes']) =>
    askSecurely({ port, root: authority.root, pair, nodes: nodes.length > 0 ? nodes : [ofShop] });

  it('answers a proxy whose certificate has its namespace and its account', async () => {
    const pair = await authority.issue({ names: [uri(shopSpiffe)] });
    expect(await asks(pair)).toMatchObject({ status: 'ANSWERED' });
    expect(await asks(pair, node('web-0.shop'))).toMatchObject({ status: 'ANSWERED' });
  });

  it('refuses a revoked certificate, and goes on with the others', async () => {
    const [good, bad] = await Promise.all(
      [0, 1].map(() => authority.issue({ names: [uri(shopSpiffe)] })),
    );
    expect(await asks(bad)).toMatchObject({ status: 'ANSWERED' });
    serve(authority.root, await testCrl(authority.issuer, { revoked: [bad?.chain ?? ''] }));
    expect(await asks(good)).toMatchObject({ status: 'ANSWERED' });
    expect(await asks(bad)).toMatchObject({ status: 'UNAUTHENTICATED' });
    serve(authority.root);
    expect(await asks(bad)).toMatchObject({ status: 'ANSWERED' });
  });

  it.each<[string, () => Promise<Parameters<typeof serve>>, ends: boolean]>([
    ['ends if CRLs come', async () => [authority.root, await testCrl(authority.issuer)], true],
    ['ends if its root is removed', () => Promise.resolve([other.root]), true],
    ['stays if a root is added', () => Promise.resolve([authority.root + other.root]), false],
    ['stays if only the certificate is new', () => Promise.resolve([authority.root]), false],
  ])('verifies clients again by a new connection: one %s', async (_, after, ends) => {
    const pair = await authority.issue({ names: [uri(shopSpiffe)] });
    const { call, close } = openDelta(
      `127.0.0.1:${port}`,
      credentials.createSsl(
        ...[authority.root, pair.key, pair.chain].map((pem) => Buffer.from(pem)),
      ),
      {},
      { 'grpc.ssl_target_name_override': 'istiod.test' },
    );
    const outcomes: string[] = [];
    call.on('data', () => outcomes.push('answer'));
    call.on('status', ({ code }) => outcomes.push(status[code]));
    call.write(create(DeltaDiscoveryRequestSchema, { node: ofShop, typeUrl: typeUrls.cluster }));
    await expect.poll(() => outcomes).toEqual(['answer']);
    serve(...(await after()));
    if (ends) await expect.poll(() => outcomes).toEqual(['answer', 'UNAVAILABLE']);
    else await new Promise((done) => setTimeout(done, 200));
    expect(outcomes).toHaveLength(ends ? 2 : 1);
    close();
    serve(authority.root);
  });

  it('names ca-crl.pem to a client whose authority has no CRL there', async () => {
    const ofOther = await other.issue({ names: [uri(shopSpiffe)] });
    serve(`${authority.root}${other.root}`, await testCrl(authority.issuer));
    expect(await asks(ofOther)).toMatchObject({
      status: 'UNAUTHENTICATED',
      details: matching(/UNABLE_TO_GET_CRL; ca-crl\.pem needs a CRL of each authority/),
    });
    serve(authority.root);
  });

  it.each<[string, (pem: string) => string]>([
    ['as it is', (pem) => pem],
    ['indented', (pem) => pem.replaceAll(/^/gm, '  ')],
    ['with blank lines', (pem) => pem.replaceAll('\n', '\n\n')],
    ['after a text on the same line', (pem) => `revoked: ${pem}`],
    ['on one line', (pem) => pem.replaceAll('\n', ' ').trim().concat('\n')],
  ])('reads each CRL of several authorities, %s', async (_, written) => {
    const [good, bad, ofOther] = await Promise.all(
      [authority, authority, other].map((by) => by.issue({ names: [uri(shopSpiffe)] })),
    );
    const [crl, otherCrl] = await Promise.all([
      testCrl(authority.issuer, { revoked: [bad?.chain ?? ''] }),
      testCrl(other.issuer),
    ]);
    for (const crls of [crl + otherCrl, otherCrl + crl]) {
      serve(`${authority.root}${other.root}`, written(crls));
      expect(await asks(good)).toMatchObject({ status: 'ANSWERED' });
      expect(await asks(ofOther)).toMatchObject({ status: 'ANSWERED' });
      expect(await asks(bad)).toMatchObject({ status: 'UNAUTHENTICATED' });
    }
    serve(authority.root);
  });

  it('goes on with the certificate before, and its CRLs, if TLS cannot use the next', async () => {
    const [good, bad] = await Promise.all(
      [0, 1].map(() => authority.issue({ names: [uri(shopSpiffe)] })),
    );
    serve(authority.root, await testCrl(authority.issuer, { revoked: [bad?.chain ?? ''] }));
    serve(authority.root, '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n');
    expect(events.at(-1)).toMatchObject({
      type: 'unserved',
      reason: matching(/^TLS cannot use the certificate, its key, the roots or the CRLs: .*CRL/),
    });
    expect(await asks(good)).toMatchObject({ status: 'ANSWERED' });
    expect(await asks(bad)).toMatchObject({ status: 'UNAUTHENTICATED' });
    serve(authority.root);
    expect(await asks(bad)).toMatchObject({ status: 'ANSWERED' });
  });

  it('goes on with the certificate before, if the next is signed with SHA-1', async () => {
    const name = { type: 'dns', value: 'istiod.test' } as const;
    const { chain, key } = await authority.issue({ names: [name], hash: 'SHA-1' });
    const serving = { chain, key: Buffer.from(key), roots: authority.root };
    serving$.next({ type: 'serving', serving });
    expect(events.at(-1)).toMatchObject({
      type: 'unserved',
      reason: matching(/^TLS cannot use the certificate, .*md too weak/),
    });
    expect(serving.key.every((byte) => byte === 0)).toBe(true);
    const pair = await authority.issue({ names: [uri(shopSpiffe)] });
    expect(await asks(pair)).toMatchObject({ status: 'ANSWERED' });
  });

  it.each<[string, SecureProxy['nodes'], RegExp]>([
    [
      'a foreign namespace in the id',
      [node('web-0.bank', { NAMESPACE: 'shop' })],
      /id of the node says 'bank'/,
    ],
    [
      'a foreign namespace in the metadata',
      [node('web-0.shop', { NAMESPACE: 'bank' })],
      /NAMESPACE of the node says 'bank'/,
    ],
    [
      'a foreign namespace in both',
      [node('web-0.bank', { NAMESPACE: 'bank' })],
      /id of the node says 'bank'/,
    ],
    [
      'a foreign namespace for its configuration',
      [node('web-0.shop', { CONFIG_NAMESPACE: 'bank' })],
      /CONFIG_NAMESPACE of the node says 'bank'/,
    ],
    [
      'a foreign account',
      [node('web-0.shop', { SERVICE_ACCOUNT: 'root' })],
      /SERVICE_ACCOUNT of the node says 'root'/,
    ],
    [
      'a namespace that is not a text',
      [node('web-0.shop', { NAMESPACE: ['shop'] })],
      /NAMESPACE of the node says '\["shop"\]'/,
    ],
    ['an id without a namespace', [node('shop')], /id of the node says ''/],
    [
      'an id that hides a namespace',
      [node('web-0.bank.shop~x', { NAMESPACE: 'shop' })],
      /id of the node says ''/,
    ],
    [
      'another node in a later request',
      [ofShop, node('web-0.bank', { NAMESPACE: 'bank' })],
      /id of the node says 'bank'/,
    ],
  ])('refuses %s', async (_, nodes, reason) => {
    const pair = await authority.issue({ names: [uri(shopSpiffe)] });
    const outcome = await asks(pair, ...nodes);
    expect(outcome.status).toBe('PERMISSION_DENIED');
    expect(outcome.details).toMatch(reason);
    expect(events.at(-1)).toMatchObject({
      type: matching(/stream-refused|disconnected/),
    });
  });

  it.each<[string, WorkloadNames, RegExp]>([
    [
      'another trust domain',
      { names: [uri('spiffe://other/ns/shop/sa/web')] },
      /trust domain of the mesh is cluster.local/,
    ],
    [
      'two URIs',
      { names: [uri(shopSpiffe), uri('spiffe://cluster.local/ns/bank/sa/web')] },
      /has 2 URIs/,
    ],
    ['a DNS name only', { names: [{ type: 'dns', value: 'web.shop' }] }, /has 0 URIs/],
    [
      'a DNS name that looks like a URI',
      { names: [{ type: 'dns', value: `x, URI:${shopSpiffe}` }] },
      /may be several names|has 0 URIs/,
    ],
    [
      'an account of no namespace',
      { names: [uri('spiffe://cluster.local/sa/web')] },
      /is not spiffe:/,
    ],
    ['a SPIFFE ID with a further part', { names: [uri(`${shopSpiffe}/x`)] }, /is not spiffe:/],
    [
      'a URI of another scheme',
      { names: [uri('https://cluster.local/ns/shop/sa/web')] },
      /is not spiffe:/,
    ],
    [
      'an expired certificate',
      { names: [uri(shopSpiffe)], from: -2 * day, to: -day },
      /CERT_HAS_EXPIRED/,
    ],
    [
      'a certificate that is not valid yet',
      { names: [uri(shopSpiffe)], from: day, to: 2 * day },
      /CERT_NOT_YET_VALID/,
    ],
    [
      'a certificate for servers',
      { names: [uri(shopSpiffe)], usages: [ExtendedKeyUsage.serverAuth] },
      /INVALID_PURPOSE/,
    ],
  ])('refuses %s', async (_, names, reason) => {
    const { status, details } = await asks(await authority.issue(names));
    expect({ status, details }).toEqual({
      status: 'UNAUTHENTICATED',
      details: matching(reason),
    });
    expect(events.at(-1)).toMatchObject({ type: 'caller-refused', status, reason: details });
  });

  it('refuses a certificate of another authority, and no certificate', async () => {
    const names = { names: [uri(shopSpiffe)] };
    expect(await asks(await other.issue(names))).toMatchObject({
      status: 'UNAUTHENTICATED',
      details: matching(/UNABLE_TO_VERIFY_LEAF_SIGNATURE/),
    });
    expect(await asks(undefined)).toMatchObject({ status: 'UNAUTHENTICATED' });
  });

  it('refuses a certificate of another authority with the same name', async () => {
    const namesake = await workloadAuthority();
    const outcome = await asks(await namesake.issue({ names: [uri(shopSpiffe)] }));
    expect(outcome.status).not.toBe('ANSWERED'); // the status may be lost with the connection
    await expect
      .poll(() => events.at(-1))
      .toMatchObject({
        type: 'caller-refused',
        reason: matching(/CERT_SIGNATURE_FAILURE/),
      });
  });

  it('takes new roots for connections from then on', async () => {
    const [pair, later] = await Promise.all(
      [authority, other].map((by) => by.issue({ names: [uri(shopSpiffe)] })),
    );
    serve(other.root);
    expect(await asks(pair)).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(await asks(later)).toMatchObject({ status: 'ANSWERED' });
    serve(`${authority.root}${other.root}`);
    expect(await asks(pair)).toMatchObject({ status: 'ANSWERED' });
    expect(await asks(later)).toMatchObject({ status: 'ANSWERED' });
    serve(authority.root);
  });
});
