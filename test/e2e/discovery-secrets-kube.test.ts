import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { create, fromBinary, toJson } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../demo/certificates.ts';
import { SecretSchema } from '../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryRequestSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { secretTypeUrl } from '../../src/shared/xds/secret-names.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  endKubeProgram,
  kubeProgram,
  type KubeServer,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { type RunningAgent, startAgent } from '../support/e2e/rig.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { openDelta } from '../support/secure-client.ts';

if (kubeProgram === undefined)
  leftOut('secrets of a real Kubernetes API over SDS: there is no API server', 'a program');

const [namespace, account] = ['gates', 'gateway'];
const rbac = 'rbac.authorization.k8s.io';
const number = (serial: string | undefined): string =>
  (serial ?? '').replace(/^0+/, '').toLowerCase();
const base64 = (text = ''): string => Buffer.from(text).toString('base64');
const secret = (
  name: string,
  data: Readonly<Record<string, string>>,
  type = 'Opaque',
): Resource => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  type,
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
});
const tls = (name: string, { certChain, key }: Issued, more = {}): Resource =>
  secret(name, { 'tls.crt': certChain, 'tls.key': key, ...more }, 'kubernetes.io/tls');

/**
 * Returns a RoleBinding that gives an account of a namespace a role, with which it lists its
 * Secrets.
 */
const bound = (kind: 'Role' | 'ClusterRole', role: string, subject: object): Resource => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata: { name: role, namespace },
  roleRef: { apiGroup: rbac, kind, name: role },
  subjects: [{ kind: 'ServiceAccount', ...subject }],
});

/** Requests secrets as a gateway. Resolves to those that arrive within `within` ms. */
async function askSecrets(
  port: number,
  names: readonly string[],
  proof: { readonly root: string; readonly token: string } | undefined,
  within = 2_000,
): Promise<Readonly<Record<string, unknown>>> {
  const { call, close } = openDelta(
    `localhost:${port}`,
    proof === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(Buffer.from(proof.root)),
    proof === undefined ? {} : { authorization: `Bearer ${proof.token}` },
    {},
  );
  const got: Record<string, unknown> = {};
  call.on('data', ({ resources }: DeltaDiscoveryResponse) => {
    for (const { name, resource } of resources)
      got[name] = toJson(
        SecretSchema,
        fromBinary(SecretSchema, resource?.value ?? new Uint8Array()),
      );
  });
  const id = `router~10.0.0.9~gate-1.${namespace}~${namespace}.svc.cluster.local`;
  call.write(
    create(DeltaDiscoveryRequestSchema, {
      node: { id, metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes' } },
      typeUrl: secretTypeUrl,
      resourceNamesSubscribe: [...names],
    }),
  );
  await eventually(() => Object.keys(got).length === names.length, { within }).catch(
    () => undefined,
  );
  close();
  return got;
}

describe.skipIf(kubeProgram === undefined)('Secrets of a real Kubernetes API', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-secrets-'));
  const place = join(folder, 'gate');
  let kube: KubeServer;
  let discovery: KubeDiscovery;
  let agent: RunningAgent;
  let application: Server;
  let https = 0;
  let [ca, others]: readonly CertificateAuthority[] = [];
  let shop: Issued;
  let root: string;

  beforeAll(async () => {
    [ca, others] = await Promise.all([certificateAuthority(), certificateAuthority('another')]);
    shop = await ca.issue();
    application = createServer((_, response) => void response.end('hello'));
    await once(application.listen(0, '127.0.0.1'), 'listening');
    kube = await startKubeServer();
    const { kubeconfig } = await kube.account('istio-system', 'pilot-discovery');
    const rights = parseAllDocuments(readFileSync('deploy/kubernetes/control-plane.yaml', 'utf8'))
      .map((document) => document.toJS() as Resource)
      .filter(({ apiVersion }) => apiVersion.startsWith(rbac));
    for (const resource of rights) await kube.apply(resource);
    discovery = await startKubeDiscovery(
      { kubeconfig, folder },
      { ISTIOD_CUSTOM_HOST: 'localhost,127.0.0.1' },
      ...['--domain', 'cluster.local', '--namespace', 'istio-system'],
    );
    const mesh = await meshOf(kube, discovery);
    await mesh.pod(place, namespace, account);
    root = readFileSync(join(place, 'var/run/secrets/istio/root-cert.pem'), 'utf8');
    await kube.apply({
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: account, namespace },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }],
    });
    await kube.apply(bound('Role', account, { name: account, namespace }));
    await kube.apply(
      bound('ClusterRole', 'pilot-discovery-secrets', {
        name: 'pilot-discovery',
        namespace: 'istio-system',
      }),
    );
    await kube.apply(tls('shop', shop, { 'ca.crt': ca.rootCert }));
    const [admin = 0, status = 0, prometheus = 0, health = 0, listened = 0] = await freePorts(5);
    https = listened;
    const server = (name: string, host: string, mode: string) => ({
      port: { number: https, name, protocol: 'HTTPS' },
      hosts: [host],
      tls: { mode, credentialName: 'shop' },
    });
    const networking = (kind: string, name: string, spec: object): Resource => ({
      apiVersion: 'networking.istio.io/v1',
      kind,
      metadata: { name, namespace },
      spec,
    });
    for (const resource of [
      networking('Gateway', 'front', {
        selector: { istio: 'gate' },
        servers: [
          server('simple', '*', 'SIMPLE'),
          server('mutual', 'mutual.example.com', 'MUTUAL'),
        ],
      }),
      networking('ServiceEntry', 'application', {
        hosts: ['application.mesh'],
        resolution: 'STATIC',
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
        endpoints: [
          {
            address: '127.0.0.1',
            ports: { http: (application.address() as AddressInfo).port },
          },
        ],
      }),
      networking('VirtualService', 'all', {
        hosts: ['*'],
        gateways: ['front'],
        http: [{ route: [{ destination: { host: 'application.mesh' } }] }],
      }),
    ])
      await kube.apply(resource);
    agent = startAgent(
      folder,
      [
        ...['proxy', 'router', '--domain', `${namespace}.svc.cluster.local`],
        ...['--proxyLogLevel=warning', '--proxyComponentLogLevel=misc:error'],
      ],
      {
        POD_NAME: 'gate-0',
        POD_NAMESPACE: namespace,
        INSTANCE_IP: '10.1.2.3',
        SERVICE_ACCOUNT: account,
        PILOT_CERT_PROVIDER: 'istiod',
        CA_ADDR: `localhost:${discovery.secure}`,
        ISTIO_META_CLUSTER_ID: 'Kubernetes',
        ISTIO_METAJSON_LABELS: JSON.stringify({ istio: 'gate' }),
        PROXY_CONFIG: JSON.stringify({
          configPath: join(place, 'etc/istio/proxy'),
          discoveryAddress: `localhost:${discovery.secure}`,
          controlPlaneAuthPolicy: 'MUTUAL_TLS',
          statusPort: status,
          proxyAdminPort: admin,
        }),
        ENVOY_PROMETHEUS_PORT: String(prometheus),
        ENVOY_STATUS_PORT: String(health),
      },
      { cwd: place },
    );
    await eventually(async () => (await secured('localhost')).status === 200, {
      within: 40_000,
    });
  });
  afterAll(async () => {
    process.kill(agent.pid, 'SIGTERM');
    await agent.exit;
    await discovery.end();
    await kube.dispose();
    application.close();
    rmSync(folder, { recursive: true });
  });

  /** Sends a request to the gateway over TLS. The status is 0 if there is no answer. */
  function secured(
    servername: string,
    client?: Issued,
  ): Promise<{ status: number; serial: string }> {
    return new Promise((done) => {
      const clientRequest = request(
        {
          ...{ host: '127.0.0.1', port: https, servername, ca: ca?.rootCert, agent: false },
          ...(client !== undefined && { cert: client.certChain, key: client.key }),
          headers: { host: servername },
          checkServerIdentity: () => undefined,
          timeout: 5_000,
        },
        (response) => {
          const { socket } = response;
          response.resume();
          done({
            status: response.statusCode ?? 0,
            serial: socket instanceof TLSSocket ? socket.getPeerCertificate().serialNumber : '',
          });
        },
      );
      clientRequest.on('timeout', () => clientRequest.destroy());
      clientRequest.on('error', () => done({ status: 0, serial: '' })).end();
    });
  }
  const accountProof = async () => ({ root, token: await kube.token(namespace, account) });

  it('are the certificates of a gateway, SIMPLE and MUTUAL', async () => {
    const { status, serial } = await secured('localhost');
    expect([status, number(serial)]).toEqual([200, number(shop.serial)]);
    const [friend, stranger] = [await ca?.issue(), await others?.issue()];
    expect((await secured('mutual.example.com', friend)).status).toBe(200);
    expect((await secured('mutual.example.com', stranger)).status).toBe(0);
    expect((await secured('mutual.example.com')).status).toBe(0);
  });

  it('are pushed when they change: no request fails, and a wrong or deleted one changes nothing', async () => {
    const load = startLoad({
      ...{ port: https, mode: 'new-connection', clients: 4, pause: 5 },
      tls: { ca: ca?.rootCert ?? '' },
    });
    for (let round = 0; round < 5; round += 1) {
      shop = (await ca?.issue()) ?? shop;
      await kube.apply(tls('shop', shop, { 'ca.crt': ca?.rootCert ?? '' }));
      await expect.poll(() => [...load.counts.serials].map(number)).toContain(number(shop.serial));
    }
    const foreign = (await others?.issue()) ?? shop;
    await kube.apply(
      secret('shop', { 'tls.crt': foreign.certChain, 'tls.key': shop.key }, 'kubernetes.io/tls'),
    );
    await expect
      .poll(() => discovery.lines('discovery.secret_refused'))
      .toContainEqual(
        expect.objectContaining({
          secret: `${namespace}/shop`,
          reason: expect.stringContaining('the key does not match the certificate') as string,
        }),
      );
    await kube.remove(secret('shop', {}));
    await expect
      .poll(() => discovery.lines('discovery.secret_gone'))
      .toContainEqual(expect.objectContaining({ secret: `${namespace}/shop` }));
    const { status, serial } = await secured('localhost');
    expect([status, number(serial)]).toEqual([200, number(shop.serial)]);
    const { ok, failed, errors } = await load.stop();
    expect([failed, [...errors]]).toEqual([0, []]);
    expect(ok).toBeGreaterThan(20);
    await kube.apply(tls('shop', shop, { 'ca.crt': ca?.rootCert ?? '' }));
    for (const event of ['rejected', 'secrets_refused', 'secrets_denied'])
      expect(discovery.lines(`discovery.${event}`)).toEqual([]);
  });

  it('are for no one who is not authenticated, or has no right to them', async () => {
    const names = ['kubernetes://shop'];
    expect(await askSecrets(discovery.plain, names, undefined, 1_000)).toEqual({});
    await expect
      .poll(() => discovery.lines('discovery.secrets_refused'))
      .toMatchObject([{ reason: expect.stringContaining('it is not authenticated') as string }]);
    await kube.apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'other', namespace },
    });
    const token = await kube.token(namespace, 'other');
    expect(await askSecrets(discovery.secure, names, { root, token }, 1_000)).toEqual({});
    await expect
      .poll(() => discovery.lines('discovery.secrets_denied'))
      .toMatchObject([{ identity: `spiffe://cluster.local/ns/${namespace}/sa/other` }]);
    await kube.apply({
      ...secret('bank', { 'tls.crt': shop.certChain, 'tls.key': shop.key }, 'kubernetes.io/tls'),
      metadata: { name: 'bank', namespace: 'default' },
    });
    const foreign = ['kubernetes://default/bank', 'kubernetes-gateway://default/bank'];
    expect(await askSecrets(discovery.secure, foreign, await accountProof(), 1_000)).toEqual({});
    expect(discovery.text()).not.toContain('PRIVATE KEY');
  });

  it('have the names and the form that a real istiod gives them', async () => {
    const rootCert = ca?.rootCert ?? '';
    const kinds: readonly Resource[] = [
      tls('whole', shop, { 'ca.crt': rootCert }),
      secret('generic', { cert: shop.certChain, key: shop.key, cacert: rootCert }),
      tls('apart', shop),
      secret('apart-cacert', { cacert: rootCert }),
      secret('half', { 'tls.crt': shop.certChain }),
    ];
    for (const resource of kinds) await kube.apply(resource);
    const names = [
      ...['whole', 'generic', 'apart'].flatMap((name) => [
        `kubernetes://${name}`,
        `kubernetes://${name}-cacert`,
      ]),
      `kubernetes://${namespace}/whole`,
      ...['kubernetes://half', 'kubernetes://none', 'kubernetes://default/bank'],
      'kubernetes-gateway://default/bank',
    ];
    const port = await portsInARow(4);
    const istiod = startKubeProgram('istiod', kube.folder, port);
    try {
      await eventually(() => connects(port + 2), { within: 20_000 });
      const ours = async () => askSecrets(discovery.secure, names, await accountProof(), 1_000);
      // The control plane reads the Secrets a moment after they are written.
      await expect.poll(async () => Object.keys(await ours())).toHaveLength(7);
      const ofOurs = await ours();
      await expect
        .poll(async () => askSecrets(port + 2, names, await accountProof(), 1_000))
        .toEqual(ofOurs);
    } finally {
      await endKubeProgram(istiod);
    }
  });
});
