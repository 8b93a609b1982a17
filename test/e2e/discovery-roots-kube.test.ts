import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { deployedRights } from '../support/e2e/deployed-rights.ts';
import { type KubeDiscovery, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  endKubeProgram,
  kubeProgram,
  type KubeServer,
  pathOf,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority, type TestIssuer, testIssuer } from '../support/plugged-authority.ts';
import { testCrl } from '../support/test-crl.ts';

if (kubeProgram === undefined)
  leftOut('the roots of the mesh in namespaces of a real Kubernetes API: there is no API server');

const mapName = 'istio-ca-root-cert';

describe.skipIf(kubeProgram === undefined)('ConfigMaps with the roots in a Kubernetes API', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-roots-'));
  const ends: (() => unknown)[] = [];
  let kube: KubeServer;
  let root: TestIssuer;

  beforeAll(async () => {
    kube = await startKubeServer();
    root = await testIssuer({ subject: 'CN=root of the mesh' });
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await kube.dispose();
    rmSync(folder, { recursive: true });
  });

  /** Makes the folder of a control plane, with an authority of these roots. */
  async function place(name: string, roots: string, by = root): Promise<string> {
    const { certificate, key, chain } = await pluggedAuthority({}, by);
    writeKubernetesVolume(join(folder, name, 'etc/cacerts'), {
      'ca-cert.pem': certificate,
      'ca-key.pem': key.toString(),
      'cert-chain.pem': chain,
      'root-cert.pem': roots,
    });
    return join(folder, name);
  }
  async function start(
    where: string,
    { kubeconfig }: Pick<KubeServer, 'kubeconfig'> = kube,
  ): Promise<KubeDiscovery> {
    const program = await startKubeDiscovery({ kubeconfig, folder: where });
    ends.push(program.end);
    await expect.poll(() => program.ready()).toMatchObject({ status: 200 });
    return program;
  }
  const election = '/api/v1/namespaces/istio-system/configmaps/istio-namespace-controller-election';
  /** Starts an istiod. After a kill, its election would last for 30 s. */
  async function startIstiod(): Promise<void> {
    const istiod = startKubeProgram('istiod', kube.folder, await portsInARow(4));
    ends.push(
      () => kube.ask('DELETE', election).catch(() => false),
      () => endKubeProgram(istiod),
    );
  }
  const namespace = (name: string, labels = {}): Resource => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  /** Removes a namespace, as the controller of Kubernetes does. */
  async function removeNamespace(name: string): Promise<void> {
    await kube.remove(namespace(name));
    const body = { metadata: { name }, spec: { finalizers: [] } };
    await kube.ask('PUT', `/api/v1/namespaces/${name}/finalize`, body);
  }
  const map = (namespaceName: string, text?: string): Resource => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: mapName, namespace: namespaceName },
    data: { 'root-cert.pem': text },
  });
  interface RootMap {
    readonly data: Readonly<Record<string, string>>;
    readonly metadata: {
      readonly resourceVersion: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
  }
  const read = (namespaceName: string) =>
    kube.ask('GET', pathOf(map(namespaceName))).catch(() => undefined) as Promise<
      RootMap | undefined
    >;
  const rootsIn = (namespaceName: string) =>
    read(namespaceName).then((object) => object?.data['root-cert.pem']);

  it('are written in each namespace, repaired, and written again with other roots', async () => {
    await kube.apply(namespace('shop'));
    const where = await place('one', root.certificate);
    const program = await start(where);
    for (const name of ['shop', 'default', 'istio-system', 'kube-system'])
      await expect.poll(() => rootsIn(name)).toBe(root.certificate);
    expect((await read('shop'))?.metadata.labels).toEqual({ 'istio.io/config': 'true' });
    await kube.apply(namespace('bank'));
    await expect.poll(() => rootsIn('bank')).toBe(root.certificate);
    for (const name of ['kube-public', 'kube-node-lease'])
      expect(await rootsIn(name)).toBeUndefined();

    await kube.apply({ ...map('shop', 'bad'), data: { 'root-cert.pem': 'bad', other: 'stays' } });
    await expect.poll(() => rootsIn('shop')).toBe(root.certificate);
    expect((await read('shop'))?.data['other']).toBe('stays');
    await kube.remove(map('bank'));
    await expect.poll(() => rootsIn('bank')).toBe(root.certificate);

    await removeNamespace('bank');
    const next = await testIssuer({ subject: 'CN=next root' });
    const both = root.certificate + next.certificate;
    await place('one', both);
    for (const name of ['shop', 'default', 'istio-system'])
      await expect.poll(() => rootsIn(name)).toBe(both);
    await expect.poll(() => program.lines('discovery.roots_published').length).toBeGreaterThan(1);
    await kube.apply(namespace('bank'));
    await expect.poll(() => rootsIn('bank')).toBe(both);
    expect(program.lines('discovery.roots_unpublished')).toEqual([]);
    expect(program.lines('discovery.roots_contested')).toEqual([]);
  });

  it('have the CRLs in the same way, under another name', async () => {
    const crlName = 'istio-ca-crl';
    const crlMap = (namespaceName: string, crl: string): Resource => ({
      ...map(namespaceName),
      metadata: { name: crlName, namespace: namespaceName },
      data: { 'ca-crl.pem': crl },
    });
    const crlIn = async (namespaceName: string) => {
      const path = pathOf(crlMap(namespaceName, ''));
      const object = (await kube.ask('GET', path).catch(() => undefined)) as RootMap | undefined;
      return object?.data['ca-crl.pem'];
    };
    /** An authority in which the root itself signs. */
    const authority = {
      'ca-cert.pem': root.certificate,
      'ca-key.pem': root.key.toString(),
      'cert-chain.pem': '',
      'root-cert.pem': root.certificate,
    };
    const cacerts = join(folder, 'revoking', 'etc/cacerts');
    const [first, second] = [await testCrl(root), await testCrl(root)];
    writeKubernetesVolume(cacerts, { ...authority, 'ca-crl.pem': first });
    const account = await kube.account('istio-system', 'pilot-discovery');
    for (const resource of deployedRights(crlName)) await kube.apply(resource);
    for (const name of ['shop', 'bank']) await kube.apply(namespace(name));
    const program = await start(join(folder, 'revoking'), account);
    await expect
      .poll(() => program.lines('discovery.crl_unpublished'))
      .toMatchObject([{ reason: expect.stringMatching(/403 .*istio-ca-crl/) as string }]);
    expect(await crlIn('shop')).toBeUndefined();

    for (const resource of deployedRights()) await kube.apply(resource);
    for (const name of ['shop', 'bank', 'default', 'istio-system'])
      await expect.poll(() => crlIn(name)).toBe(first);
    await kube.apply(crlMap('shop', 'bad'));
    await expect.poll(() => crlIn('shop')).toBe(first);
    await kube.remove(crlMap('bank', ''));
    await expect.poll(() => crlIn('bank')).toBe(first);
    await kube.apply(namespace('later'));
    await expect.poll(() => crlIn('later')).toBe(first);

    writeKubernetesVolume(cacerts, { ...authority, 'ca-crl.pem': second });
    for (const name of ['shop', 'later']) await expect.poll(() => crlIn(name)).toBe(second);
    writeKubernetesVolume(cacerts, authority);
    for (const name of ['shop', 'later']) await expect.poll(() => crlIn(name)).toBe('');
    expect(program.lines('discovery.crl_contested')).toEqual([]);
  });

  it('are left alone outside of discoverySelectors, as with istiod', async () => {
    const labels = { discover: 'yes' };
    await kube.apply(namespace('inside', labels));
    await kube.apply(namespace('outside'));
    await kube.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio', namespace: 'istio-system' },
      data: { mesh: 'discoverySelectors: [{ matchLabels: { discover: "yes" } }]' },
    });
    ends.push(() => kube.ask('DELETE', '/api/v1/namespaces/istio-system/configmaps/istio'));
    await start(await place('one', root.certificate));
    await expect.poll(() => rootsIn('inside')).toBe(root.certificate);
    expect(await rootsIn('outside')).toBeUndefined();
    await kube.apply(namespace('outside', labels));
    await expect.poll(() => rootsIn('outside')).toBe(root.certificate);
    await kube.apply(namespace('outside'));
    await kube.apply(map('outside', 'bad'));
    await kube.apply(map('inside', 'bad'));
    await expect.poll(() => rootsIn('inside')).toBe(root.certificate);
    expect(await rootsIn('outside')).toBe('bad');
  });

  it('are written once by two instances and an istiod with the same roots', async () => {
    const programs = await Promise.all([start(folder), start(folder)]);
    await startIstiod();
    await expect.poll(() => kube.ask('GET', election).catch(() => false)).toBeTruthy();
    await kube.apply(namespace('shared'));
    await expect.poll(() => rootsIn('shared')).toContain('BEGIN');
    const version = async () => (await read('shared'))?.metadata.resourceVersion;
    const first = await version();
    await kube.remove(map('default'));
    await expect.poll(() => rootsIn('default')).toBe(await rootsIn('shared'));
    expect(await version()).toBe(first);
    for (const { lines } of programs) expect(lines('discovery.roots_contested')).toEqual([]);
  });

  it('do not start a fight with an istiod that has another root', async () => {
    await startIstiod();
    await kube.apply(namespace('contested'));
    await expect.poll(() => rootsIn('contested')).toContain('BEGIN');
    const program = await start(await place('one', root.certificate));
    await expect.poll(() => program.lines('discovery.roots_contested')).toHaveLength(1);
    // Each namespace has a contest of its own, which ends after some repairs within 2 s each.
    const version = async () => (await read('contested'))?.metadata.resourceVersion;
    await expect
      .poll(async () => {
        const before = await version();
        await sleep(4_000);
        return (await version()) === before;
      })
      .toBe(true);
    expect(program.lines('discovery.roots_contested')).toHaveLength(1);
    expect(await program.ready()).toMatchObject({ status: 200 });
  });
});
