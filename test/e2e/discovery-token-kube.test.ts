import { createSign, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { firstValueFrom } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { istioAuthority } from '../../src/pilot-agent/secrets/ca/istio-authority.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';
import { askSecurely } from '../support/secure-client.ts';
import { csrPem, goodKeys, testCsr } from '../support/test-csr.ts';

if (kubeProgram === undefined)
  leftOut('tokens of a real Kubernetes API: there is no API server', 'a program');

interface Line extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

interface Discovery {
  readonly port: number;
  readonly lines: (event: string) => readonly Line[];
  /** Requests clusters as a node of a namespace. */
  readonly xds: (token: string, namespace?: string) => Promise<string>;
  /** Requests a certificate. Resolves to its name, or to the reason if there is none. */
  readonly certificate: (token: string) => Promise<string>;
}

const hour = 3_600;
const csr = csrPem(testCsr(...goodKeys['P-256']));
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a token with the claims of another one, of which some are replaced, signed by a key. */
function signed(token: string, key: KeyObject | string, instead: object): string {
  const [head = '', payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const content = `${head}.${part({ ...claims, ...instead })}`;
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`;
}

describe.skipIf(kubeProgram === undefined)('tokens of a real Kubernetes API', () => {
  let kube: KubeServer;
  let root: string;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-token-'));
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const authority = await pluggedAuthority();
    root = authority.roots;
    writeFileSync(join(folder, 'root'), root);
    writeKubernetesVolume(join(folder, 'cacerts'), {
      'ca-cert.pem': authority.certificate,
      'ca-key.pem': authority.key.toString(),
      'cert-chain.pem': authority.chain,
      'root-cert.pem': authority.roots,
    });
    mkdirSync(join(folder, 'config'));
    kube = await startKubeServer();
    for (const name of ['shop', 'bank'])
      await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const [namespace, name] of [
      ['shop', 'web'],
      ['shop', 'root'],
      ['bank', 'web'],
    ] as const)
      await kube.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await kube.dispose();
    rmSync(folder, { recursive: true });
  });

  async function start(kubeconfig: string, ...more: readonly string[]): Promise<Discovery> {
    const [port = 0, http = 0] = await freePorts(2);
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--kubeconfig', kubeconfig, ...more],
        ...['--grpcAddr', '', '--secureGRPCAddr', `127.0.0.1:${port}`],
        ...['--httpAddr', `127.0.0.1:${http}`, '--monitoringAddr', ''],
      ],
      {
        buffer: false,
        reject: false,
        cwd: folder,
        env: { ROOT_CA_DIR: 'cacerts', ISTIOD_CUSTOM_HOST: '127.0.0.1,istiod.test' },
      },
    );
    ends.push(() => (child.kill('SIGKILL'), child));
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (log += piece));
    await expect.poll(async () => (await ask(http, '/ready')).status).toBe(200);
    await expect.poll(() => connects(port)).toBe(true);
    const authority = istioAuthority({
      address: `127.0.0.1:${port}`,
      roots: join(folder, 'root'),
      serverName: undefined,
      client: undefined,
      clusterId: 'Kubernetes',
    });
    return {
      port,
      lines: (event) =>
        log
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line)
          .filter((line) => line.event === event),
      async xds(token, namespace = 'shop') {
        const id = `sidecar~10.0.0.1~web-0.${namespace}~${namespace}.svc.cluster.local`;
        const { status, details } = await askSecurely({
          ...{ port, root, headers: { authorization: `Bearer ${token}` } },
          nodes: [{ id, metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes' } }],
        });
        return details === '' ? status : `${status} ${details}`;
      },
      async certificate(token) {
        const answer = await firstValueFrom(authority.sign(csr, token, hour * 1_000), {
          defaultValue: { ok: false as const, reason: 'no answer' },
        });
        return answer.ok
          ? (new X509Certificate(answer.chain[0] ?? '').subjectAltName ?? '')
          : answer.reason;
      },
    };
  }
  const refusal = (discovery: Discovery) =>
    expect.poll(() => discovery.lines('discovery.caller_refused').at(-1));

  it('give a workload its certificate and its configuration, and no one else', async () => {
    const discovery = await start(kube.kubeconfig, '--registries', 'Kubernetes');
    const token = await kube.token('shop', 'web');
    expect(await discovery.certificate(token)).toBe('URI:spiffe://cluster.local/ns/shop/sa/web');
    expect(await discovery.xds(token)).toBe('ANSWERED');
    const foreign = await kube.token('bank', 'web');
    expect(await discovery.certificate(foreign)).toBe('URI:spiffe://cluster.local/ns/bank/sa/web');
    expect(await discovery.xds(foreign)).toMatch(/^PERMISSION_DENIED .*bank\/sa\/web.*'shop'/);
    expect(discovery.lines('discovery.certificate_issued')).toMatchObject([
      { identity: 'spiffe://cluster.local/ns/shop/sa/web' },
      { identity: 'spiffe://cluster.local/ns/bank/sa/web' },
    ]);
    expect(discovery.lines('discovery.caller_refused')).toEqual([]);

    const clusterKey = readFileSync(join(kube.folder, 'sa.key'), 'utf8');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const now = Math.floor(Date.now() / 1_000);
    const gone = await kube.token('shop', 'root');
    await kube.remove({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'shop', name: 'root' },
    });
    const attempts: readonly (readonly [string, string, RegExp])[] = [
      [
        'wrong audience',
        await kube.token('shop', 'web', 'https://kubernetes.default.svc'),
        /invalid for the target audiences/,
      ],
      [
        'expired',
        signed(token, clusterKey, { iat: now - 2 * hour, nbf: now - 2 * hour, exp: now - hour }),
        /expired/,
      ],
      ['not valid yet', signed(token, clusterKey, { nbf: now + hour }), /not valid yet/],
      ['self-made', signed(token, privateKey, {}), /invalid bearer token/],
      [
        'a foreign account in a good token',
        token.replace(/\.[^.]*\./, `.${part({ sub: 'system:serviceaccount:bank:web' })}.`),
        /does not accept the token/,
      ],
      ['another issuer', signed(token, clusterKey, { iss: 'https://x' }), /does not accept/],
      ['a deleted account', gone, /does not accept the token/],
      ['no service account', 'admin-token', /not Bearer with a signed token/],
    ];
    for (const [attempt, bad, reason] of attempts) {
      const [xds, certificate] = [await discovery.xds(bad), await discovery.certificate(bad)];
      expect.soft(xds, attempt).toMatch(/^UNAUTHENTICATED /);
      expect.soft(xds, attempt).toMatch(reason);
      expect.soft(certificate, attempt).toMatch(reason);
      expect.soft(await discovery.xds(token), attempt).toBe('ANSWERED');
    }
    await refusal(discovery).toMatchObject({
      status: 'UNAUTHENTICATED',
      reason: expect.stringMatching(/audiences/) as string,
    });
  });

  it('wait while the API is away, and certificates do not', async () => {
    const discovery = await start(kube.kubeconfig, '--registries', 'Kubernetes');
    const [used, other] = [await kube.token('shop', 'web'), await kube.token('bank', 'web')];
    expect(await discovery.xds(used)).toBe('ANSWERED');
    await kube.stop();
    try {
      // The API reviewed this token in the last 30 s.
      expect(await discovery.xds(used)).toBe('ANSWERED');
      expect(await discovery.xds(other, 'bank')).toMatch(/^UNAVAILABLE .*cannot be authenticated/);
      expect(await discovery.certificate(other)).toMatch(/cannot be authenticated now/);
      await refusal(discovery).toMatchObject({
        status: 'UNAVAILABLE',
        reason: expect.stringMatching(/cannot be reviewed: .*ECONNREFUSED/) as string,
      });
    } finally {
      await kube.start();
    }
    await expect.poll(() => discovery.xds(other, 'bank')).toBe('ANSWERED');
  });

  it('are not accepted if the API is away at the start, or does not allow reviews', async () => {
    const { kubeconfig } = await kube.account('shop', 'pilot');
    const discovery = await start(kubeconfig, '--configDir', join(folder, 'config'));
    const token = await kube.token('shop', 'web');
    expect(await discovery.xds(token)).toMatch(/^UNAVAILABLE /);
    await refusal(discovery).toMatchObject({
      status: 'UNAVAILABLE',
      reason: expect.stringMatching(/tokenreviews: 403 .*system:auth-delegator/) as string,
    });
    await kube.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'pilot' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:auth-delegator',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: 'shop', name: 'pilot' }],
    });
    await expect.poll(() => discovery.xds(token)).toBe('ANSWERED');
    await kube.stop();
    try {
      const later = await start(kubeconfig, '--configDir', join(folder, 'config'));
      expect(await later.xds(token)).toMatch(/^UNAVAILABLE /);
      await kube.start();
      await expect.poll(() => later.xds(token)).toBe('ANSWERED');
    } finally {
      if (!(await connects(kube.port))) await kube.start();
    }
  });
});
