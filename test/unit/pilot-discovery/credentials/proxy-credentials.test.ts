import { createPrivateKey } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { defer, NEVER, type Observable, of, type Subscription, VirtualTimeScheduler } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../../demo/certificates.ts';
import type { CredentialEvent } from '../../../../src/pilot-discovery/credentials/credential-event.ts';
import { narrateCredentials } from '../../../../src/pilot-discovery/credentials/narrate-credentials.ts';
import { proxyCredentials } from '../../../../src/pilot-discovery/credentials/proxy-credentials.ts';
import type { SecretsSign } from '../../../../src/pilot-discovery/push/secrets-sign.ts';
import type { KubeAnswer, KubeApi, KubeWriter } from '../../../../src/shared/kube/kube-api.ts';
import { SecretSchema } from '../../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { fakeKube, type KubeDocument } from '../../../support/fake-kube.ts';

const caller = { trustDomain: 'cluster.local', namespace: 'shop', serviceAccount: 'gateway' };
const identity = 'spiffe://cluster.local/ns/shop/sa/gateway';

type Data = Readonly<Record<string, string>>;
const secret = (name: string, data: Data, namespace = 'shop'): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)])),
});

const encrypted = (key: string): string =>
  createPrivateKey(key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
    .toString();

const answered = (allowed: boolean): KubeAnswer => ({ ok: true, value: { status: { allowed } } });
const away: KubeAnswer = {
  ok: false,
  failure: { reason: 'connect ECONNREFUSED', status: undefined, pause: 0 },
};

/** Sets up the secrets of proxies over an API, in virtual time. */
function world() {
  const scheduler = new VirtualTimeScheduler();
  scheduler.frame = Date.now(); // certificates have dates
  const kube = fakeKube();
  const reviews: string[] = [];
  const paths: string[] = [];
  const answers = { now: of(answered(true)) };
  const api: KubeApi & KubeWriter = {
    ...kube.api,
    get(path, decode) {
      paths.push(path);
      return kube.api.get(path, decode);
    },
    create: (path, body): Observable<KubeAnswer> =>
      defer(() => {
        reviews.push(`${path} ${String(body)}`);
        return answers.now;
      }),
  };
  const credentials = proxyCredentials(api, { after: 100, max: 10_000 }, scheduler);
  const events: CredentialEvent[] = [];
  const error = (flaw: unknown) => expect.unreachable(String(flaw));
  credentials.event$.subscribe({ next: (event) => events.push(event), error });
  const advance = (ms: number): void => {
    const end = scheduler.frame + ms;
    scheduler.maxFrames = end;
    scheduler.flush();
    scheduler.frame = end;
  };
  /** Follows the secrets of a proxy: their names, or the reasons why it gets none. */
  const proxy = (names: readonly string[], who = caller) => {
    const signs: SecretsSign[] = [];
    const running: Subscription = credentials
      .secretsFor$(who, new Set(names))
      .subscribe({ next: (sign) => signs.push(sign), error });
    const bodies = () => {
      const last = signs.findLast((sign) => sign.type === 'secrets');
      return [...(last?.view.resources.values() ?? [])].map(({ body }) =>
        fromBinary(SecretSchema, body),
      );
    };
    return {
      signs,
      running,
      bodies,
      names: () => bodies().map(({ name }) => name),
      refusals: () =>
        signs.flatMap((sign) => (sign.type === 'secrets-refused' ? [sign.reason] : [])),
    };
  };
  const listed = () =>
    paths
      .filter((path) => path.includes('/secrets'))
      .map((path) => path.replace('?fieldSelector=metadata.name%3D', '/').split('&')[0]);
  return { kube, reviews, answers, events, advance, proxy, listed, scheduler };
}

describe('the secrets of gateways', () => {
  let [pair, other]: readonly Issued[] = [];
  let root = '';
  const tls = (issued: Issued | undefined, more: Data = {}): Data => ({
    'tls.crt': issued?.certChain ?? '',
    'tls.key': issued?.key ?? '',
    ...more,
  });

  beforeAll(async () => {
    const ca = await certificateAuthority();
    [pair, other] = await Promise.all([ca.issue(), ca.issue()]);
    root = ca.rootCert;
  });

  it('are those of istiod: of both kinds, in Envoy’s form, under the name that was asked', () => {
    const { kube, advance, proxy, events } = world();
    kube.put(secret('tls', tls(pair, { 'ca.crt': root, 'tls.ocsp-staple': 'staple' })));
    kube.put(
      secret('generic', { cert: pair?.certChain ?? '', key: pair?.key ?? '', cacert: root }),
    );
    kube.put(secret('apart', tls(pair)));
    kube.put(secret('apart-cacert', { cacert: root }));
    const names = [
      'kubernetes://tls',
      'kubernetes://tls-cacert',
      'kubernetes://shop/generic',
      'kubernetes-gateway://shop/generic-cacert',
      'kubernetes://apart-cacert',
    ];
    const asking = proxy(names);
    advance(200);
    expect(asking.names()).toEqual(names);
    const [whole, roots, generic, ofGeneric, apart] = asking.bodies();
    const inline = (text = '') => ({
      specifier: { case: 'inlineBytes', value: new Uint8Array(Buffer.from(text)) },
    });
    expect(whole?.type).toMatchObject({
      case: 'tlsCertificate',
      value: {
        certificateChain: inline(pair?.certChain),
        privateKey: inline(pair?.key),
        ocspStaple: inline('staple'),
      },
    });
    expect(generic?.type).toMatchObject({
      case: 'tlsCertificate',
      value: { privateKey: inline(pair?.key) },
    });
    for (const rootsSecret of [roots, ofGeneric, apart])
      expect(rootsSecret?.type).toMatchObject({
        case: 'validationContext',
        value: { trustedCa: inline(root) },
      });
    expect(events.map(({ type }) => type)).toEqual(names.map(() => 'credential-read'));
  });

  it.each([
    ['kubernetes://bank/tls', 'is in another namespace than the proxy, which is in shop'],
    ['kubernetes-gateway://bank/tls', 'is in another namespace than the proxy, which is in shop'],
    ['kubernetes-gateway://tls', 'is in another namespace than the proxy, which is in shop'],
    ['kubernetes://shop/../bank/tls', 'names no Secret'],
    ['kubernetes://shop%2Ftls', 'names no Secret'],
    ['kubernetes://', 'names no Secret'],
    ['file-cert:/etc/passwd~/etc/shadow', 'names no Secret'],
    ['default', 'names no Secret'],
    ['kubernetes://TLS', 'names no Secret'],
    ['configmap://shop/tls', 'names no Secret'],
  ])('are refused under the name %s, and nothing is asked of the API', (name, reason) => {
    const { kube, advance, proxy, listed, reviews } = world();
    kube.put(secret('tls', tls(pair), 'bank'));
    kube.put(secret('tls', tls(pair)));
    const asking = proxy([name]);
    advance(1_000);
    expect(asking.refusals()).toEqual([expect.stringContaining(reason)]);
    expect([asking.names(), listed(), reviews]).toEqual([[], [], []]);
  });

  it('are those that are named, if others are refused, and no other is read', () => {
    const { kube, advance, proxy, listed } = world();
    kube.put(secret('tls', tls(pair)));
    kube.put(secret('other', tls(other)));
    const asking = proxy(['kubernetes://bank/tls', 'kubernetes://tls']);
    advance(200);
    expect(asking.names()).toEqual(['kubernetes://tls']);
    expect(asking.refusals()).toHaveLength(1);
    expect(listed()).toEqual(['/api/v1/namespaces/shop/secrets/tls']);
  });

  it('need the right to list Secrets there: without it there are none, and the API is asked again after 10 s', () => {
    const { kube, advance, proxy, answers, reviews, events, listed } = world();
    kube.put(secret('tls', tls(pair)));
    answers.now = of(answered(false));
    const asking = proxy(['kubernetes://tls']);
    advance(200);
    expect([asking.names(), listed()]).toEqual([[], []]);
    expect(events).toEqual([
      {
        type: 'credentials-denied',
        identity,
        reason: expect.stringContaining('may not list the Secrets') as string,
      },
    ]);
    expect(reviews).toEqual([
      `/apis/authorization.k8s.io/v1/subjectaccessreviews ${JSON.stringify({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'system:serviceaccount:shop:gateway',
          resourceAttributes: { namespace: 'shop', verb: 'list', resource: 'secrets' },
        },
      })}`,
    ]);
    answers.now = of(answered(true));
    advance(9_799);
    expect(reviews).toHaveLength(1);
    advance(1 + 200);
    expect(reviews).toHaveLength(2);
    expect(asking.names()).toEqual(['kubernetes://tls']);
    expect(events.map(({ type }) => type)).toEqual([
      'credentials-denied',
      'credentials-allowed',
      'credential-read',
    ]);
  });

  it.each<[string, Observable<KubeAnswer>, within: number]>([
    ['is away', of(away), 0],
    ['does not answer', NEVER, 5_000],
  ])('are refused while the API %s, and come 2 s after it is back', (_, answer$, within) => {
    const { kube, advance, proxy, answers, events } = world();
    kube.put(secret('tls', tls(pair)));
    answers.now = answer$;
    const asking = proxy(['kubernetes://tls']);
    advance(within);
    expect(events.map(({ type }) => type)).toEqual(['credentials-denied']);
    advance(1_000);
    expect(asking.names()).toEqual([]);
    answers.now = of(answered(true));
    advance(1_000 + 200);
    expect(asking.names()).toEqual(['kubernetes://tls']);
  });

  it('end a minute after the right was taken away, and are no longer pushed', () => {
    const { kube, advance, proxy, answers, events } = world();
    kube.put(secret('tls', tls(pair)));
    const asking = proxy(['kubernetes://tls']);
    advance(200);
    answers.now = of(answered(false));
    advance(59_799);
    expect(asking.names()).toEqual(['kubernetes://tls']);
    advance(1);
    expect(asking.names()).toEqual([]);
    kube.put(secret('tls', tls(other)));
    advance(1_000);
    expect(asking.names()).toEqual([]);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
      'credential-read',
      'credentials-denied',
    ]);
  });

  it('end after a minute and 5 s while the API is slow, also if hundreds of accounts ask at once', () => {
    const { kube, advance, proxy, answers } = world();
    kube.put(secret('tls', tls(pair)));
    const all = Array.from({ length: 300 }, (_, index) =>
      proxy(['kubernetes://tls'], { ...caller, serviceAccount: `account-${index}` }),
    );
    advance(200);
    expect(all.every((asking) => asking.names().length === 1)).toBe(true);
    answers.now = NEVER;
    advance(60_000 + 5_000);
    expect(all.filter((asking) => asking.names().length > 0)).toEqual([]);
  });

  it('cost one question and one watch for all proxies of an account', () => {
    const { kube, advance, proxy, reviews, listed } = world();
    kube.put(secret('tls', tls(pair)));
    const all = Array.from({ length: 50 }, () => proxy(['kubernetes://tls']));
    advance(200);
    expect(all.every((connection) => connection.names().length === 1)).toBe(true);
    expect([reviews.length, listed().length]).toEqual([1, 1]);
    proxy(['kubernetes://tls'], { ...caller, serviceAccount: 'second' });
    advance(200);
    expect([reviews.length, listed().length]).toEqual([2, 1]);
  });

  it.each<[what: string, data: () => Data, reason: string]>([
    ['no certificate', () => tls(pair, { 'tls.crt': 'x' }), 'the certificate does not parse'],
    ['no key', () => tls(pair, { 'tls.key': 'x' }), 'the key does not parse'],
    [
      'another key',
      () => tls(pair, { 'tls.key': other?.key ?? '' }),
      'the key does not match the certificate',
    ],
    [
      'an encrypted key',
      () => tls(pair, { 'tls.key': encrypted(pair?.key ?? '') }),
      'the key is encrypted, and there is no password for it',
    ],
    ['other data', () => ({ token: 'x' }), 'it has no tls.crt with tls.key, it has token'],
    ['nothing', () => ({}), 'it has no tls.crt with tls.key, it is empty'],
  ])('stay if a Secret has %s, which one line names; others go on', (_, data, reason) => {
    const { kube, advance, proxy, events } = world();
    kube.put(secret('tls', tls(pair)));
    kube.put(secret('good', tls(pair)));
    const asking = proxy(['kubernetes://tls', 'kubernetes://good']);
    advance(200);
    const [before] = asking.bodies();
    kube.put(secret('tls', data()));
    kube.put(secret('good', tls(other)));
    advance(200);
    expect(events.slice(2)).toEqual([
      {
        type: 'credential-refused',
        namespace: 'shop',
        name: 'tls',
        reason: expect.stringContaining(reason) as string,
      },
      {
        type: 'credential-read',
        namespace: 'shop',
        name: 'good',
        expires: expect.any(Number) as number,
      },
    ]);
    const [stays, changed] = asking.bodies();
    expect(stays).toEqual(before);
    expect(JSON.stringify(changed?.type.value)).not.toBe(JSON.stringify(stays?.type.value));
    advance(120_000);
    expect(events).toHaveLength(4); // it is read again and again, and reported once
    kube.put(secret('tls', tls(other)));
    advance(200);
    expect(events.at(-1)).toMatchObject({ type: 'credential-read', name: 'tls' });
    const late = proxy(['kubernetes://tls']);
    advance(200);
    expect(late.bodies()[0]?.type).toEqual(asking.bodies()[0]?.type);
  });

  it('are never served from a Secret that was wrong from the start, or has wrong roots', () => {
    const { kube, advance, proxy, events } = world();
    kube.put(secret('tls', tls(pair, { 'tls.key': other?.key ?? '', 'ca.crt': 'x' })));
    kube.put(secret('revoking', tls(pair, { 'ca.crt': root, 'ca.crl': 'x' })));
    const asking = proxy([
      'kubernetes://tls',
      'kubernetes://tls-cacert',
      'kubernetes://revoking-cacert',
      'kubernetes://none',
    ]);
    advance(200);
    expect(asking.names()).toEqual([]);
    expect(events).toMatchObject([
      { name: 'tls', reason: expect.stringContaining('does not match') as string },
      { name: 'tls-cacert', reason: 'ca.crt: it has no certificate' },
      { name: 'revoking-cacert', reason: 'ca.crl: it has no X509 CRL' },
      { name: 'none', reason: 'there is no such Secret' },
    ]);
  });

  it('are gone for newcomers if the Secret is gone, which one line names', () => {
    const { kube, advance, proxy, events } = world();
    kube.put(secret('tls', tls(pair)));
    const asking = proxy(['kubernetes://tls']);
    advance(200);
    kube.remove(secret('tls', {}));
    advance(200);
    expect(asking.names()).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['credential-read', 'credential-gone']);
  });

  it('above 500 of a namespace wait until others are no longer followed', () => {
    const { kube, advance, proxy, events } = world();
    kube.put(secret('late', tls(pair)));
    const others = proxy(Array.from({ length: 500 }, (_, index) => `kubernetes://s${index}`));
    const late = proxy(['kubernetes://late']);
    advance(1_000);
    expect(late.names()).toEqual([]);
    expect(events.find((event) => 'name' in event && event.name === 'late')).toMatchObject({
      type: 'credential-refused',
      reason: '500 Secrets of the namespace are followed already, which is the limit',
    });
    others.running.unsubscribe();
    // They are left after 60 s, and the next try follows after 30 s.
    advance(91_000);
    expect(late.names()).toEqual(['kubernetes://late']);
    expect(
      events.filter((event) => 'name' in event && event.name === 'late').map(({ type }) => type),
    ).toEqual(['credential-refused', 'credential-read']);
  });

  it('are pushed once for changes within 100 ms', () => {
    const { kube, advance, proxy } = world();
    for (const name of ['a', 'b']) kube.put(secret(name, tls(pair)));
    const asking = proxy(['kubernetes://a', 'kubernetes://b']);
    advance(1_000);
    const before = asking.signs.length;
    kube.put(secret('a', tls(other)));
    advance(99);
    kube.put(secret('b', tls(other)));
    advance(99);
    expect(asking.signs).toHaveLength(before);
    advance(1);
    expect(asking.signs).toHaveLength(before + 1);
  });
});

describe('the lines about the secrets of gateways', () => {
  const named = { namespace: 'shop', name: 'tls' };
  it.each<[CredentialEvent, line: object]>([
    [
      { type: 'credential-read', ...named, expires: 0 },
      {
        event: 'discovery.secret_read',
        secret: 'shop/tls',
        notAfter: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      { type: 'credential-read', ...named, expires: undefined },
      { event: 'discovery.secret_read', secret: 'shop/tls' },
    ],
    [
      { type: 'credential-refused', ...named, reason: 'bad' },
      { event: 'discovery.secret_refused', secret: 'shop/tls', reason: 'bad' },
    ],
    [
      { type: 'credential-gone', ...named },
      { event: 'discovery.secret_gone', secret: 'shop/tls' },
    ],
    [
      { type: 'credentials-allowed', identity },
      { event: 'discovery.secrets_allowed', identity },
    ],
    [
      { type: 'credentials-denied', identity, reason: 'no' },
      { event: 'discovery.secrets_denied', identity, reason: 'no' },
    ],
  ])('name the secret or the account: %j', (event, line) => {
    expect(narrateCredentials(event)).toMatchObject([line]);
  });
});
