import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { acceptingClient } from '../support/proxy-client.ts';
import {
  kubeProgram,
  type KubeServer,
  pathOf,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';

if (kubeProgram === undefined)
  leftOut('a control plane over a real Kubernetes API: there is no API server');

interface Line {
  readonly event: string;
  readonly source?: string;
  readonly reason?: string;
}

/** A control plane that runs. */
interface Running {
  readonly lines: () => readonly Line[];
  readonly ready: () => Promise<{ readonly status: number; readonly body: string }>;
  readonly metrics: () => Promise<string>;
  readonly debug: (path: string) => Promise<unknown>;
  /**
   * Connects a proxy that ACKs all clusters. It is refused if the control plane waits for sources.
   */
  readonly connect: () => void;
}

const namespace = 'shop';
const object = (
  kind: string,
  name: string,
  more: Pick<Resource, 'apiVersion'> & Readonly<Record<string, unknown>>,
): Resource => ({ ...more, kind, metadata: { namespace, name } });
const service = (name: string, port: number): Resource =>
  object('Service', name, {
    apiVersion: 'v1',
    spec: { ports: [{ name: 'http', port, targetPort: 8080 }], selector: { app: name } },
  });
const pod = (name: string, app: string): Resource => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels: { app } },
  spec: {
    containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 8080 }] }],
    serviceAccountName: app,
  },
});
const slice = (name: string, addresses: Readonly<Record<string, string>>): Resource => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace, name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  endpoints: Object.entries(addresses).map(([podName, address]) => ({
    addresses: [address],
    targetRef: { kind: 'Pod', namespace, name: podName },
  })),
});
const weights = (first: number): Resource =>
  object('VirtualService', 'reviews', {
    apiVersion: 'networking.istio.io/v1',
    spec: {
      hosts: ['reviews'],
      http: [
        {
          route: [
            { destination: { host: 'reviews' }, weight: first },
            { destination: { host: 'ratings' }, weight: 100 - first },
          ],
        },
      ],
    },
  });
const strict = object('PeerAuthentication', 'strict', {
  apiVersion: 'security.istio.io/v1',
  spec: { mtls: { mode: 'STRICT' } },
});
const proxy = 'app.shop';
const id = `sidecar~10.0.0.9~${proxy}~shop.svc.cluster.local`;

describe.skipIf(kubeProgram === undefined)('pilot-discovery over a real Kubernetes API', () => {
  let kube: KubeServer;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-kube-'));
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    kube = await startKubeServer();
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await kube.dispose();
    rmSync(folder, { recursive: true });
  });

  /** Starts a control plane. */
  async function start(...more: readonly string[]): Promise<Running> {
    const [xds = 0, secure = 0, http = 0, monitoring = 0] = await freePorts(4);
    const open = { grpcAddr: xds, secureGRPCAddr: secure };
    const listen = { ...open, httpAddr: http, monitoringAddr: monitoring };
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', ...more],
        ...Object.entries(listen).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
      ],
      { buffer: false, reject: false, cwd: folder },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    ends.push(() => (child.kill('SIGKILL'), child));
    await eventually(() => connects(xds));
    return {
      lines: () =>
        output
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line),
      ready: () => ask(http, '/ready'),
      metrics: async () => (await ask(monitoring, '/metrics')).body,
      debug: async (path) => JSON.parse((await ask(http, path)).body) as unknown,
      connect() {
        const client = acceptingClient(xds, id, typeUrls.cluster);
        ends.push(() => client.close());
      },
    };
  }

  /**
   * Resolves to the configuration of the proxy, without fields that differ between a folder and an
   * API.
   */
  const dump = async ({ debug }: Running): Promise<unknown> =>
    JSON.parse(
      JSON.stringify(await debug(`/debug/config_dump?proxyID=${proxy}`), (key, value: unknown) =>
        key === 'last_updated' || key === 'version_info' ? undefined : value,
      ),
    );
  const isReady =
    ({ ready }: Running) =>
    async () =>
      (await ready()).status;
  const losses = ({ lines }: Running) =>
    lines().filter(
      ({ event, source }) => event === 'discovery.source_lost' && source === 'Kubernetes',
    );
  const lastLost = (running: Running) => losses(running).at(-1)?.reason ?? '';
  const textOf = async (running: Running) => JSON.stringify(await dump(running));

  it('serves what a folder with the same objects serves, before and after each change', async () => {
    const config = join(folder, 'config');
    mkdirSync(config);
    const inFolder = new Map<string, Resource>();
    const put = async (resource: Resource, status?: unknown): Promise<void> => {
      let applied = await kube.apply(resource);
      if (status !== undefined)
        applied = (await kube.ask(
          'PATCH',
          `${pathOf(resource)}/status`,
          { status },
          'application/merge-patch+json',
        )) as Resource;
      inFolder.set(pathOf(resource), applied);
    };
    const written = () =>
      writeFileSync(
        join(config, 'all.yaml'),
        [...inFolder.values()].map((each) => JSON.stringify(each)).join('\n---\n'),
      );
    inFolder.set(
      'own',
      (await kube.ask('GET', '/api/v1/namespaces/default/services/kubernetes')) as Resource,
    );
    await put(service('reviews', 80));
    await put(service('ratings', 80));
    await put(pod('reviews-1', 'reviews'), { podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] });
    await put(slice('reviews', { 'reviews-1': '10.1.0.1' }));
    await put(weights(90));
    await put(strict);
    written();
    const [api, files] = [
      await start('--kubeconfig', kube.kubeconfig),
      await start('--configDir', config),
    ];
    await expect.poll(isReady(api)).toBe(200);
    await expect.poll(isReady(files)).toBe(200);
    for (const running of [api, files]) running.connect();
    await expect.poll(() => textOf(api)).toContain('reviews.shop.svc.cluster.local');
    await expect.poll(async () => (await textOf(api)) === (await textOf(files))).toBe(true);
    expect(await dump(api)).toEqual(await dump(files));

    await put(weights(10));
    await put(pod('ratings-1', 'ratings'), { podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] });
    await put(slice('ratings', { 'ratings-1': '10.1.0.2' }));
    written();
    await expect.poll(() => textOf(files)).toContain('10.1.0.2');
    await expect.poll(async () => (await textOf(api)) === (await textOf(files))).toBe(true);
    expect(await dump(api)).toEqual(await dump(files));
  });

  it('keeps everything while the API is away, says so, and then has what changed', async () => {
    const api = await start('--registries', 'Kubernetes', '--kubeconfig', kube.kubeconfig);
    await expect.poll(isReady(api)).toBe(200);
    api.connect();
    await expect.poll(() => textOf(api)).toContain('reviews.shop.svc.cluster.local');
    expect(await api.metrics()).toContain('pilot_source_up{source="Kubernetes"} 1');
    const before = await dump(api);
    await kube.stop();
    await expect.poll(() => lastLost(api)).toContain(`https://127.0.0.1:${kube.port}: `);
    await expect.poll(api.ready).toMatchObject({
      status: 200,
      body: expect.stringContaining('Kubernetes cannot be read') as string,
    });
    expect(await api.metrics()).toContain('pilot_source_up{source="Kubernetes"} 0');
    expect(await dump(api)).toEqual(before);
    expect(losses(api)).toHaveLength(1);
    await kube.start();
    await kube.apply(weights(33));
    await expect.poll(() => textOf(api)).toContain('"weight":33');
    await expect.poll(api.ready).toEqual({ status: 200, body: '' });
    expect(api.lines().filter(({ event }) => event === 'discovery.source_back')).not.toEqual([]);
  });

  it('is not ready without the rights to a kind, names the kind, and goes on when it has them', async () => {
    const { kubeconfig } = await kube.account('default', 'discovery');
    const rbac = 'rbac.authorization.k8s.io';
    const rbacObject = (kind: string, name: string, more: object): Resource => ({
      apiVersion: `${rbac}/v1`,
      kind,
      metadata: { name },
      ...more,
    });
    const verbs = ['get', 'list', 'watch'];
    const rules = (...core: readonly string[]) =>
      rbacObject('ClusterRole', 'discovery', {
        rules: [
          { apiGroups: [''], resources: core, verbs },
          { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs },
          // The control plane reads the root of the mesh from these Secrets.
          {
            apiGroups: [''],
            resources: ['secrets'],
            resourceNames: ['cacerts', 'istio-ca-secret'],
            verbs,
          },
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
          {
            apiGroups: ['networking.istio.io', 'security.istio.io', 'telemetry.istio.io'],
            resources: ['*'],
            verbs,
          },
        ],
      });
    await kube.apply(
      rbacObject('ClusterRoleBinding', 'discovery', {
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'discovery' },
        subjects: [{ kind: 'ServiceAccount', name: 'discovery', namespace: 'default' }],
      }),
    );
    await kube.apply(rules('services', 'configmaps', 'nodes', 'namespaces'));
    const api = await start('--kubeconfig', kubeconfig);
    await expect
      .poll(api.ready)
      .toMatchObject({ status: 503, body: expect.stringContaining('pods is forbidden') as string });
    await kube.apply(rules('services', 'configmaps', 'nodes', 'namespaces', 'pods'));
    await expect.poll(isReady(api)).toBe(200);
    api.connect();

    // A right is checked only when a watch begins.
    await kube.apply(rules('services', 'configmaps', 'nodes', 'namespaces'));
    await kube.stop();
    await kube.start();
    await expect.poll(() => lastLost(api)).toContain('pods is forbidden');
    await expect.poll(() => textOf(api)).toContain('10.1.0.1');
    await kube.apply(weights(44));
    await expect.poll(() => textOf(api)).toContain('"weight":44');
    await kube.apply(rules('services', 'configmaps', 'nodes', 'namespaces', 'pods'));
    await expect.poll(api.ready).toEqual({ status: 200, body: '' });
  });
});
