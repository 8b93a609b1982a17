import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { tokenDefaults } from '../../src/pilot-discovery/run/token-config.ts';
import { connects } from '../support/connects.ts';
import { type FakeReviews, startFakeReviews } from '../support/fake-reviews.ts';
import { freePorts } from '../support/free-ports.ts';
import { askSecurely } from '../support/secure-client.ts';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import { type WorkloadAuthority, workloadAuthority } from '../support/workload-authority.ts';

const [cluster, issuer] = [tokenIssuer('cluster'), tokenIssuer('issuer')];
const web = { iss: 'https://cluster', sub: 'system:serviceaccount:shop:web' };
const id = 'sidecar~10.0.0.1~web-0.shop~shop.svc.cluster.local';

describe('each variable about tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-jwt-'));
  const ends: (() => unknown)[] = [];
  let reviews: FakeReviews;
  let authority: WorkloadAuthority;

  beforeAll(async () => {
    [reviews, authority] = await Promise.all([startFakeReviews(cluster.keys), workloadAuthority()]);
    const { server } = await reviews.findApi();
    writeFileSync(
      join(folder, 'kubeconfig'),
      JSON.stringify({
        'current-context': 'fake',
        clusters: [{ name: 'fake', cluster: { server } }],
        contexts: [{ name: 'fake', context: { cluster: 'fake' } }],
        users: [],
      }),
    );
    mkdirSync(join(folder, 'config'));
    const { chain, key } = await authority.issue({
      names: [{ type: 'dns', value: 'istiod.test' }],
    });
    for (const [file, text] of Object.entries({ chain, key, root: authority.root }))
      writeFileSync(join(folder, file), text);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => {
    reviews.close();
    rmSync(folder, { recursive: true });
  });

  /**
   * Starts a control plane. Returns a function that connects with a token, and resolves to the
   * status.
   */
  async function start(env: Readonly<Record<string, string>>) {
    const [port = 0] = await freePorts(1);
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', 'config'],
        ...['--kubeconfig', 'kubeconfig', '--grpcAddr', '', '--httpAddr', ''],
        ...['--monitoringAddr', '', '--secureGRPCAddr', `127.0.0.1:${port}`],
        ...['--tlsCertFile', 'chain', '--tlsKeyFile', 'key', '--caCertFile', 'root'],
      ],
      { cwd: folder, buffer: false, reject: false, env },
    );
    ends.push(() => (child.kill('SIGKILL'), child));
    await expect.poll(() => connects(port)).toBe(true);
    return async (token: string) => {
      const { status, details } = await askSecurely({
        ...{ port, root: authority.root, headers: { authorization: `Bearer ${token}` } },
        nodes: [{ id, metadata: {} }],
      });
      return details === '' ? status : `${status} ${details}`;
    };
  }

  /** Serves keys; returns their address. */
  async function serveKeys(keys: () => string | undefined): Promise<string> {
    const server = createServer((_, response) => {
      const answer = keys();
      response.writeHead(answer === undefined ? 503 : 200).end(answer);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ends.push(() => (server.closeAllConnections(), server.close()));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  }

  const rows: Readonly<Record<keyof typeof tokenDefaults, () => Promise<void>>> = {
    async TOKEN_AUDIENCES() {
      const token = (aud: string) => cluster.sign({ ...web, aud: [aud] });
      const usual = await start({});
      expect(await usual(token('istio-ca'))).toBe('ANSWERED');
      expect(await usual(token('mesh'))).toMatch(/^UNAUTHENTICATED .*audiences mesh are invalid/);
      const asks = await start({ TOKEN_AUDIENCES: 'mesh, other' });
      expect(await asks(token('istio-ca'))).toMatch(/^UNAUTHENTICATED /);
      expect(await asks(token('mesh'))).toBe('ANSWERED');
      expect(reviews.reviews.at(-1)?.audiences).toEqual(['mesh', 'other']);
    },
    async JWT_RULE() {
      const outside = { iss: 'https://issuer.test', sub: web.sub, aud: 'machines' };
      const jwksUri = await serveKeys(() => issuer.keys);
      const rule = { issuer: outside.iss, audiences: ['machines'], jwksUri };
      const asks = await start({
        JWT_RULE: JSON.stringify(rule),
        BLOCKED_CIDRS_IN_JWKS_URIS: 'none',
      });
      expect(await asks(issuer.sign(outside))).toBe('ANSWERED');
      expect(await asks(issuer.sign({ ...outside, aud: 'istio-ca' }))).toMatch(/"aud" claim/);
      expect(await asks(cluster.sign(outside))).toMatch(/^UNAUTHENTICATED /);
      // The Kubernetes API reviews the tokens of other issuers.
      expect(await asks(cluster.sign({ ...web, aud: ['istio-ca'] }))).toBe('ANSWERED');
      expect(await (await start({}))(issuer.sign(outside))).toMatch(/^UNAUTHENTICATED /);
    },
  };
  it.each(Object.entries(rows))('%s has its effect', (_, observe) => observe());

  it('JWT_RULE follows the issuer, which may be away or replace its keys', async () => {
    const outside = { iss: 'https://issuer.test', sub: web.sub, aud: 'machines' };
    let keys: string | undefined;
    const jwksUri = await serveKeys(() => keys);
    const asks = await start({
      JWT_RULE: JSON.stringify({ issuer: outside.iss, audiences: ['machines'], jwksUri }),
      BLOCKED_CIDRS_IN_JWKS_URIS: '10.0.0.0/8',
    });
    expect(await asks(issuer.sign(outside))).toMatch(/^UNAVAILABLE .*the log/);
    keys = issuer.keys;
    await expect.poll(() => asks(issuer.sign(outside))).toBe('ANSWERED');
    const next = tokenIssuer('next');
    keys = next.keys;
    // This request makes the control plane fetch the keys.
    expect(await asks(next.sign(outside))).toMatch(/^UNAUTHENTICATED /);
    await expect.poll(() => asks(next.sign(outside))).toBe('ANSWERED');
  });

  it.each([
    ['{', /JWT_RULE: it is not an object in JSON/],
    ['{"issuer":"https://a"}', /JWT_RULE: audiences: it is missing/],
    ['{"issuer":"a","audiences":["b"]}', /JWT_RULE: it has no jwks and no jwksUri/],
    ['{"issuer":"https://a","audiences":["b"],"jwksUrl":"x"}', /jwksUrl: .*did you mean jwksUri/],
  ])('JWT_RULE %s is refused at the start', async (rule, reason) => {
    const { exitCode, stderr } = await execa(
      process.execPath,
      [resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', 'config'],
      { cwd: folder, reject: false, env: { JWT_RULE: rule } },
    );
    expect(exitCode).toBe(64);
    expect(stderr).toMatch(reason);
  });
});
