import 'reflect-metadata';
import { asyncScheduler, of, type Subscription } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  boundedReviews,
  reviewBounds,
} from '../../../../src/pilot-discovery/identity/bounded-reviews.ts';
import { identifyBy } from '../../../../src/pilot-discovery/identity/identify.ts';
import { reviewByApi } from '../../../../src/pilot-discovery/identity/review-by-api.ts';
import type { DiscoveryEvent } from '../../../../src/pilot-discovery/state/discovery-event.ts';
import { kubeApi } from '../../../../src/shared/kube/kube-api.ts';
import { type FakeReviews, sameStatus, startFakeReviews } from '../../../support/fake-reviews.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { askSecurely, type SecureProxy } from '../../../support/secure-client.ts';
import { servedSecurely } from '../../../support/served-securely.ts';
import { tokenIssuer } from '../../../../demo/token-issuer.ts';
import {
  uri,
  type WorkloadAuthority,
  workloadAuthority,
} from '../../../support/workload-authority.ts';

const issuer = tokenIssuer('cluster');
const stranger = tokenIssuer('cluster');
const web = { iss: 'https://cluster', sub: 'system:serviceaccount:shop:web', aud: ['istio-ca'] };
const past = Math.floor(Date.now() / 1_000) - 3_600;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const good = bearer(issuer.sign(web));
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const node = (workload: string, metadata = {}) => ({
  id: `sidecar~10.0.0.1~${workload}~shop.svc.cluster.local`,
  metadata,
});
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const user = {
  username: 'system:serviceaccount:shop:web',
  groups: ['system:serviceaccounts'],
};

describe('tokens on the secure port', () => {
  const events: DiscoveryEvent[] = [];
  let authority: WorkloadAuthority;
  let reviews: FakeReviews;
  let port: number;
  let running: Subscription;

  beforeAll(async () => {
    authority = await workloadAuthority();
    reviews = await startFakeReviews(issuer.keys);
  });
  beforeEach(async () => {
    [port = 0] = await freePorts(1);
    const { chain, key } = await authority.issue({
      names: [{ type: 'dns', value: 'istiod.test' }],
    });
    const api = kubeApi(() => reviews.findApi(), 'pilot-discovery');
    const review$ = reviewByApi(api, ['istio-ca', 'mesh'], asyncScheduler);
    running = await servedSecurely(
      port,
      {
        serving$: of({
          type: 'serving',
          serving: { chain, key: Buffer.from(key), roots: authority.root },
        }),
        identify$: identifyBy(
          of('cluster.local'),
          boundedReviews(review$, reviewBounds, asyncScheduler),
          asyncScheduler,
        ),
      },
      events,
    );
  });
  afterEach(() => {
    running.unsubscribe();
    reviews.answer(undefined);
    events.splice(0);
  });
  afterAll(() => reviews.close());

  const asks = (headers: SecureProxy['headers'], more: Partial<SecureProxy> = {}) =>
    askSecurely({
      port,
      root: authority.root,
      ...(headers && { headers }),
      nodes: [node('web-0.shop')],
      ...more,
    });
  const certified = async (account: string) => ({
    pair: await authority.issue({ names: [uri(`spiffe://cluster.local/ns/shop/sa/${account}`)] }),
  });

  it('make the service account the caller, if they are for one of the audiences', async () => {
    expect(await asks(good)).toMatchObject({ status: 'ANSWERED' });
    const mesh = bearer(issuer.sign({ ...web, aud: ['mesh', 'x'] }));
    const ofWeb = { nodes: [node('web-0.shop', { SERVICE_ACCOUNT: 'web' })] };
    expect(await asks(mesh, ofWeb)).toMatchObject({ status: 'ANSWERED' });
    expect(reviews.reviews.at(-1)?.audiences).toEqual(['istio-ca', 'mesh']);
  });

  it.each<[string, SecureProxy['nodes'], RegExp]>([
    ['namespace', [node('web-0.bank')], /sa\/web, and the id of the node says 'bank'/],
    ['account', [node('web-0.shop', { SERVICE_ACCOUNT: 'root' })], /says 'root'/],
  ])('do not let the caller be a node of a foreign %s', async (_, nodes, reason) => {
    expect(await asks(good, { nodes })).toEqual({
      status: 'PERMISSION_DENIED',
      details: matching(reason),
    });
  });

  it.each<[string, string, RegExp, 'reviewed' | 'not reviewed']>([
    ['no token', '', /no client certificate and no token/, 'not reviewed'],
    ['another scheme', `Basic ${part('a:b')}`, /not Bearer with a signed/, 'not reviewed'],
    ['an opaque token', 'Bearer ya29.abc', /not Bearer with a signed/, 'not reviewed'],
    ['claims that are not JSON', 'Bearer a.b.c', /not Bearer with a signed/, 'not reviewed'],
    [
      'a token without a signature',
      `Bearer ${part({ alg: 'none' })}.${part(web)}.`,
      /not Bearer with a signed/,
      'not reviewed',
    ],
    [
      'a long token',
      `Bearer ${issuer.sign({ ...web, more: 'x'.repeat(7_000) })}`,
      /characters, and the limit is 8192/,
      'not reviewed',
    ],
    [
      'another audience',
      `Bearer ${issuer.sign({ ...web, aud: ['kubernetes'] })}`,
      /audiences kubernetes are invalid/,
      'reviewed',
    ],
    ['an expired token', `Bearer ${issuer.sign({ ...web, exp: past })}`, /has expired/, 'reviewed'],
    ['a self-made token', `Bearer ${stranger.sign(web)}`, /invalid bearer token/, 'reviewed'],
    [
      'a user',
      `Bearer ${issuer.sign({ ...web, sub: 'system:admin' })}`,
      /of no service account: 'system:admin'/,
      'reviewed',
    ],
    [
      'a service account with a further part',
      `Bearer ${issuer.sign({ ...web, sub: `${web.sub}:x` })}`,
      /of no service account/,
      'reviewed',
    ],
    [
      'a service account with a slash',
      `Bearer ${issuer.sign({ ...web, sub: 'system:serviceaccount:shop:web/../root' })}`,
      /of no service account/,
      'reviewed',
    ],
  ])('are refused: %s', async (_, authorization, reason, review) => {
    const before = reviews.reviews.length;
    const { status, details } = await asks(authorization === '' ? {} : { authorization });
    expect({ status, details }).toEqual({ status: 'UNAUTHENTICATED', details: matching(reason) });
    expect(reviews.reviews.length - before).toBe(review === 'reviewed' ? 1 : 0);
    expect(events.at(-1)).toMatchObject({ type: 'caller-refused', status, reason: details });
    expect(details).not.toContain(authorization.slice(7, 40) || 'Bearer');
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['without a verdict', { user, audiences: ['istio-ca'] }],
    ['with a verdict that is a text', { authenticated: 'true', user, audiences: ['istio-ca'] }],
    ['without audiences', { authenticated: true, user }],
    ['for another audience', { authenticated: true, user, audiences: ['x'] }],
    ['without a user', { authenticated: true, audiences: ['istio-ca'] }],
    [
      'without the group of service accounts',
      { authenticated: true, audiences: ['istio-ca'], user: { ...user, groups: ['x'] } },
    ],
  ])('are refused if the API answers %s', async (_, status) => {
    reviews.answer(sameStatus(status));
    expect(await asks(good)).toMatchObject({ status: 'UNAUTHENTICATED' });
  });

  it.each<[string, Parameters<FakeReviews['answer']>[0], RegExp]>([
    ['is away', (response) => void response.destroy(), /cannot be reviewed: .*socket hang up/],
    ['fails', (response) => void response.writeHead(500).end('{}'), /cannot be reviewed: .*500/],
    [
      'does not allow reviews',
      (response) => void response.writeHead(403).end('{"message":"may not"}'),
      /403 may not \(allow it by a ClusterRoleBinding to the ClusterRole system:auth-delegator\)/,
    ],
    ['answers with a page', (response) => void response.end('<html>'), /cannot be reviewed/],
    [
      'answers without end',
      (response) => void response.end('x'.repeat(3 << 20)),
      /larger than 2097152 bytes/,
    ],
    ['is silent', () => undefined, /does not answer within 5 s/],
  ])('wait for the API if it %s, and certificates do not', async (_, answer, reason) => {
    reviews.answer(answer);
    const waiting = asks(good);
    expect(await asks(undefined, await certified('web'))).toMatchObject({ status: 'ANSWERED' });
    expect(await waiting).toEqual({
      status: 'UNAVAILABLE',
      details: matching(/cannot be authenticated now: the log/),
    });
    expect(events).toContainEqual({
      type: 'caller-refused',
      status: 'UNAVAILABLE',
      address: matching(/^127/),
      reason: matching(reason),
    });
    reviews.answer(undefined);
    expect(await asks(good)).toMatchObject({ status: 'ANSWERED' });
  });

  it('must not contradict a certificate, which is the caller', async () => {
    const before = reviews.reviews.length;
    const both = await certified('web');
    expect(await asks(good, both)).toMatchObject({ status: 'ANSWERED' });
    const expired = bearer(issuer.sign({ ...web, exp: past }));
    expect(await asks(expired, both)).toMatchObject({ status: 'ANSWERED' });
    for (const headers of [
      bearer(issuer.sign({ ...web, sub: 'system:serviceaccount:shop:root' })),
      bearer(issuer.sign({ ...web, sub: 'system:serviceaccount:bank:web' })),
      bearer(issuer.sign({ ...web, sub: 'web' })),
      { authorization: 'Bearer opaque' },
    ])
      expect(await asks(headers, both)).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(reviews.reviews).toHaveLength(before);
  });

  it('do not replace a certificate that is refused', async () => {
    const other = await workloadAuthority('other');
    const pair = await other.issue({ names: [uri('spiffe://cluster.local/ns/shop/sa/web')] });
    expect(await asks(good, { pair })).toEqual({
      status: 'UNAUTHENTICATED',
      details: matching(/client certificate is not verified/),
    });
  });

  it('that are bad do not flood the API, whatever they claim', async () => {
    const before = reviews.reviews.length;
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, (_, number) =>
        asks(bearer(stranger.sign({ ...web, sub: `system:serviceaccount:shop:web-${number}` }))),
      ),
    );
    const countOf = (name: string) => outcomes.filter(({ status }) => status === name).length;
    expect(countOf('UNAUTHENTICATED') + countOf('RESOURCE_EXHAUSTED')).toBe(120);
    const { burst } = reviewBounds.refused;
    // 20 allows one more review each second.
    const most = burst + reviewBounds.ofClient.running + 20;
    expect(reviews.reviews.length - before).toBeGreaterThanOrEqual(burst);
    expect(reviews.reviews.length - before).toBeLessThan(most);
    expect(await asks(undefined, await certified('web'))).toMatchObject({ status: 'ANSWERED' });
  });
});
