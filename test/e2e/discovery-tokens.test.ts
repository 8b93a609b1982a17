import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

const [issuer, other] = [tokenIssuer('one'), tokenIssuer('one')];
const iss = 'https://issuer.example.com';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const tokens = {
  good: issuer.sign({
    iss,
    sub: 'me',
    aud: 'shop',
    groups: ['admin', 'staff'],
    scope: 'read write',
  }),
  'of another group': issuer.sign({ iss, sub: 'you', aud: ['a', 'shop'], groups: ['staff'] }),
  'of another audience': issuer.sign({ iss, sub: 'me', aud: 'bank' }),
  'of another key': other.sign({ iss, sub: 'me', aud: 'shop' }),
  'of another issuer': issuer.sign({ iss: 'https://other.example.com', sub: 'me', aud: 'shop' }),
  expired: issuer.sign({ iss, sub: 'me', aud: 'shop', exp: 1_000_000_000 }),
  'no token at all': 'nonsense',
};

const authentication = (rules: string, more = '') => `---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens${more} }
spec: { jwtRules: [${rules}] }
`;
const policy = (spec: string) => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: tokens, namespace: default }
spec: ${spec}
`;
const rule = (more = '') => `{ issuer: '${iss}', jwks: '${issuer.keys}'${more} }`;

describe('tokens over two real sidecars', () => {
  let rig: TwoSidecarsRig;
  let application: Server;
  beforeAll(async () => {
    rig = await twoSidecarsRig();
    application = createServer(
      ({ headers }, response) => void response.end(JSON.stringify(headers)),
    );
    await once(application.listen(0, '127.0.0.1'), 'listening');
    const { port } = application.address() as AddressInfo;
    rig.write(
      '20-sidecar.yaml',
      rig.read('20-sidecar.yaml').replace(/(?<=defaultEndpoint: 127\.0\.0\.1:)\d+/g, String(port)),
    );
    rig.startDiscovery([], { BLOCKED_CIDRS_IN_JWKS_URIS: '169.254.0.0/16' });
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(async () => {
    await rig.dispose();
    application.close();
  });

  /** Resolves to the status without a token, and to that with each token. */
  async function statuses(
    headersOf: (token: string) => Readonly<Record<string, string>> = bearer,
  ): Promise<Readonly<Record<string, number>>> {
    const each = Object.entries(tokens).map(
      async ([name, token]) => [name, (await rig.ask('/', headersOf(token))).status] as const,
    );
    return Object.fromEntries([
      ['none', (await rig.ask()).status] as const,
      ...(await Promise.all(each)),
    ]);
  }
  const bad = {
    'of another key': 401,
    'of another issuer': 401,
    expired: 401,
    'no token at all': 401,
  };
  const valid = { none: 200, good: 200, 'of another group': 200, ...bad };

  it.each<[what: string, text: string, right: Readonly<Record<string, number>>]>([
    [
      'of any audience',
      authentication(rule(), ', namespace: default'),
      { ...valid, 'of another audience': 200 },
    ],
    [
      'of one audience',
      authentication(rule(', audiences: [shop]'), ', namespace: default'),
      { ...valid, 'of another audience': 403 },
    ],
    [
      'by a rule of the mesh',
      authentication(rule(', audiences: [shop]'), ', namespace: istio-system'),
      { ...valid, 'of another audience': 403 },
    ],
    [
      'of one of two issuers',
      authentication(
        `${rule(', audiences: [shop]')}, { issuer: second, jwks: '${other.keys}' }`,
        ', namespace: default',
      ),
      { ...valid, 'of another audience': 403 },
    ],
    [
      'whose keys are not known: none is valid',
      authentication(`{ issuer: '${iss}', jwks: '{"keys":[]}' }`, ', namespace: default'),
      { ...valid, good: 401, 'of another group': 401, 'of another audience': 401 },
    ],
    [
      'that each request needs',
      `${authentication(rule(', audiences: [shop]'), ', namespace: default')}${policy(
        '{ action: DENY, rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }] }',
      )}`,
      { ...valid, none: 403, 'of another audience': 403 },
    ],
    [
      'of one principal',
      `${authentication(rule(', audiences: [shop]'), ', namespace: default')}${policy(
        `{ rules: [{ from: [{ source: { requestPrincipals: ["${iss}/me"] } }] }] }`,
      )}`,
      { ...valid, none: 403, 'of another group': 403, 'of another audience': 403 },
    ],
    [
      'with a claim',
      `${authentication(rule(), ', namespace: default')}${policy(
        '{ rules: [{ when: [{ key: "request.auth.claims[groups]", values: [admin] }, { key: "request.auth.claims[scope]", values: [write] }, { key: "request.auth.audiences", values: [shop] }] }] }',
      )}`,
      { ...valid, none: 403, 'of another group': 403, 'of another audience': 403 },
    ],
  ])('%s', async (_, text, right) => {
    rig.write('40-tokens.yaml', text);
    await expect.poll(statuses).toEqual(right);
  });

  it('are looked for where the rule says, and told to the application as it says', async () => {
    const more =
      ', audiences: [shop], fromHeaders: [{ name: x-token, prefix: "T " }], fromParams: [t], fromCookies: [c], outputPayloadToHeader: x-payload, outputClaimToHeaders: [{ header: x-sub, claim: sub }]';
    rig.write('40-tokens.yaml', authentication(rule(more), ', namespace: default'));
    const with_ = (token: string) => ({ 'x-token': `T ${token}` });
    await expect.poll(() => statuses(with_)).toEqual({ ...valid, 'of another audience': 403 });
    const received = async (path: string, headers: Readonly<Record<string, string>>) => {
      const { status, body } = await rig.ask(path, headers);
      return status === 200 ? (JSON.parse(body) as object) : { status };
    };
    const { good } = tokens;
    // An older connection keeps the old rule until Envoy has drained it.
    const poll = (path: string, headers: Readonly<Record<string, string>>) =>
      expect.poll(() => received(path, headers));
    await poll('/', with_(good)).toMatchObject({ 'x-sub': 'me', 'x-payload': good.split('.')[1] });
    await poll('/', with_(good)).not.toHaveProperty('x-token');
    await poll(`/?t=${good}`, {}).toMatchObject({ 'x-sub': 'me' });
    await poll('/', { cookie: `c=${good}` }).toMatchObject({ 'x-sub': 'me' });
    const hasNoClaim = (headers: object) => 'host' in headers && !('x-sub' in headers);
    await poll('/', bearer(good)).toSatisfy(hasNoClaim);
    await poll('/', { ...bearer(good), 'x-sub': 'forged' }).toSatisfy(hasNoClaim);
    rig.write(
      '40-tokens.yaml',
      authentication(rule(`${more}, forwardOriginalToken: true`), ', namespace: default'),
    );
    await poll('/', with_(good)).toMatchObject({ 'x-token': `T ${good}` });
  });

  it('are judged by keys that are fetched, and by those of before if nobody answers', async () => {
    const server = createServer(({ url }, response) => {
      const { port } = server.address() as AddressInfo;
      const address = JSON.stringify({ jwks_uri: `http://127.0.0.1:${port}/keys` });
      response.end(url === '/keys' ? issuer.keys : address);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const fetched = (more = '') =>
      authentication(
        `{ issuer: '${iss}', jwksUri: '${origin}/keys'${more} }, { issuer: '${origin}' }`,
        ', namespace: default',
      );
    rig.write('40-tokens.yaml', fetched());
    await expect.poll(statuses).toEqual({ ...valid, 'of another audience': 200 });
    const discovered = bearer(issuer.sign({ iss: origin, sub: 'me' }));
    await expect.poll(async () => (await rig.ask('/', discovered)).status).toBe(200);

    server.close();
    server.closeAllConnections();
    rig.write('40-tokens.yaml', fetched(', audiences: [shop]'));
    await expect.poll(statuses).toEqual({ ...valid, 'of another audience': 403 });
    expect((await rig.ask('/', discovered)).status).toBe(200);
  });

  it('are refused if their keys cannot be fetched, and the reason is told', async () => {
    rig.write(
      '40-tokens.yaml',
      authentication(
        `{ issuer: '${iss}', jwksUri: 'http://169.254.169.254/keys' }`,
        ', namespace: default',
      ),
    );
    await expect.poll(statuses).toEqual({
      ...valid,
      good: 401,
      'of another group': 401,
      'of another audience': 401,
    });
    const flaws = () => rig.debug<readonly { readonly reason: string }[]>('flawz');
    await expect
      .poll(async () => (await flaws()).map(({ reason }) => reason))
      .toContain(
        'the keys cannot be fetched: 169.254.169.254 is blocked; each token of the issuer is refused',
      );
  });
});
