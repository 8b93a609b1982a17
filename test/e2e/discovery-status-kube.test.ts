import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type KubeDiscovery, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  kubeProgram,
  type KubeServer,
  pathOf,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { leftOut } from '../support/left-out.ts';

if (kubeProgram === undefined)
  leftOut('the status of resources in a real Kubernetes API: there is no API server');

const rights = parseAllDocuments(readFileSync('deploy/kubernetes/control-plane.yaml', 'utf8'))
  .map((document) => document.toJS() as Resource)
  .filter(({ apiVersion }) => apiVersion.startsWith('rbac.'));
/** Returns the rights without the rules that contain a text. */
const without = (text: string) =>
  rights.map((resource) => ({
    ...resource,
    rules: (resource['rules'] as readonly object[] | undefined)?.filter(
      (rule) => !JSON.stringify(rule).includes(text),
    ),
  }));

const route = (name: string, to: string): Resource => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace: 'shop' },
  spec: { hosts: [`${name}.example`], http: [{ route: [{ destination: { host: to } }] }] },
});
const lease: Resource = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'istio-analyze-leader', namespace: 'istio-system' },
};
/** The ServiceEntry that makes `shop.example` a host of the mesh. */
const entry: Resource = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'ServiceEntry',
  metadata: { name: 'shop', namespace: 'shop' },
  spec: {
    hosts: ['shop.example'],
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'STATIC',
    location: 'MESH_EXTERNAL',
    endpoints: [{ address: '127.0.0.9' }],
  },
};
const missing = {
  observedGeneration: '1',
  validationMessages: [
    {
      documentationUrl: 'https://istio.io/v1.26/docs/reference/config/analysis/ist0101/',
      level: 'ERROR',
      type: {
        code: 'IST0101',
        name: expect.stringContaining('spec.http[0].route[0].destination') as string,
      },
    },
  ],
};

describe.skipIf(kubeProgram === undefined)('the status of resources in a Kubernetes API', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-status-'));
  let kube: KubeServer;
  let kubeconfig: string;
  const running: KubeDiscovery[] = [];

  async function start(name: string): Promise<KubeDiscovery> {
    const program = await startKubeDiscovery(
      { kubeconfig, folder },
      { PILOT_ENABLE_ANALYSIS: 'true', PILOT_ANALYSIS_INTERVAL: '1s', POD_NAME: name },
    );
    running.push(program);
    return program;
  }
  const linesOfFirst = (event: string) => running[0]?.lines(event) ?? [];
  async function read(resource: Resource) {
    return (await kube.ask('GET', pathOf(resource)).catch(() => undefined)) as Resource | undefined;
  }
  const statusOf = async (resource: Resource) => (await read(resource))?.['status'];
  const holder = async () =>
    ((await read(lease))?.['spec'] as { readonly holderIdentity?: string } | undefined)
      ?.holderIdentity;

  beforeAll(async () => {
    kube = await startKubeServer();
    ({ kubeconfig } = await kube.account('istio-system', 'pilot-discovery'));
    for (const resource of without('/status"')) await kube.apply(resource);
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await kube.apply(entry);
    await kube.apply(route('bad', 'nothing.example'));
    await kube.apply(route('good', 'shop.example'));
  });
  afterAll(async () => {
    await Promise.all(running.map(({ end }) => end()));
    await kube.dispose();
    rmSync(folder, { recursive: true });
  });

  it('is refused without the right, which the log names, and written when the right is given', async () => {
    await start('first');
    await expect
      .poll(() => linesOfFirst('discovery.status_refused'))
      .toContainEqual(
        expect.objectContaining({
          reason: expect.stringMatching(
            /virtualservices\/status.*allow it by a ClusterRole/s,
          ) as string,
        }),
      );
    expect(await statusOf(route('bad', ''))).toBeUndefined();
    for (const name of ['second', 'third']) await start(name);
    for (const resource of rights) await kube.apply(resource);
    await expect.poll(() => statusOf(route('bad', ''))).toEqual(missing);
    await expect.poll(() => statusOf(route('good', ''))).toEqual({ observedGeneration: '1' });
    await expect.poll(() => statusOf(entry)).toEqual({ observedGeneration: '1' });
  });

  it('loses its message when the mistake is mended, and no push and no further write follows', async () => {
    await kube.apply(route('bad', 'shop.example'));
    await expect.poll(() => statusOf(route('bad', ''))).toEqual({ observedGeneration: '2' });
    const versions = async () =>
      Promise.all(['bad', 'good'].map(async (name) => JSON.stringify(await read(route(name, '')))));
    const [before, pushes] = [await versions(), linesOfFirst('discovery.pushed').length];
    await sleep(2_500); // longer than two analyses
    expect(await versions()).toEqual(before);
    expect(linesOfFirst('discovery.pushed')).toHaveLength(pushes);
  });

  it('is written by one instance, and by another one soon after the first ends or is killed', async () => {
    const [, ...others] = running;
    for (const { ready } of others) await expect.poll(ready).toMatchObject({ status: 200 });
    expect(await holder()).toMatch(/^first_/);
    await running[0]?.end();
    expect(linesOfFirst('discovery.status_writer_over')).toMatchObject([
      { reason: 'this instance ends' },
    ]);
    await expect.poll(holder).toMatch(/^(?:second|third)_/);
    const leads = (await holder())?.startsWith('second_') === true ? 0 : 1;
    await others[leads]?.kill();
    const killedAt = performance.now();
    const next = leads === 0 ? /^third_/ : /^second_/;
    await expect.poll(holder).toMatch(next);
    expect(performance.now() - killedAt).toBeGreaterThan(12_000);
    for (const { lines } of others)
      expect(lines('discovery.status_writer').length).toBeLessThanOrEqual(1);
    await kube.apply(route('bad', 'nothing.example'));
    await expect
      .poll(() => statusOf(route('bad', '')))
      .toEqual({ ...missing, observedGeneration: '3' });
  });
});
