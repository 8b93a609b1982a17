import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connects } from '../support/connects.ts';
import { deployedRights } from '../support/e2e/deployed-rights.ts';
import { type KubeDiscovery, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { leftOut } from '../support/left-out.ts';
import { askSecurely } from '../support/secure-client.ts';

if (kubeProgram === undefined)
  leftOut('the rights of the control plane in a real Kubernetes API: there is no API server');

const [namespace, mapName] = ['istio-system', 'istio-ca-root-cert'];
describe.skipIf(kubeProgram === undefined)('the rights of deploy/kubernetes/control-plane', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-rights-'));
  let kube: KubeServer;
  let kubeconfig: string;
  let program: KubeDiscovery;

  beforeAll(async () => {
    kube = await startKubeServer();
    ({ kubeconfig } = await kube.account(namespace, 'pilot-discovery'));
    for (const resource of deployedRights(mapName)) await kube.apply(resource);
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await kube.apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'web', namespace: 'shop' },
    });
    await kube.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio', namespace },
      data: { mesh: 'trustDomain: mesh.example' },
    });
    program = await startKubeDiscovery(
      { kubeconfig, folder },
      { ISTIOD_CUSTOM_HOST: 'istiod.test' },
    );
  });
  afterAll(async () => {
    await program.end();
    await kube.dispose();
    rmSync(folder, { recursive: true });
  });

  const rootsIn = async (namespaceName: string) => {
    const { data } = (await kube
      .ask('GET', `/api/v1/namespaces/${namespaceName}/configmaps/${mapName}`)
      .catch(() => ({ data: {} }))) as { readonly data: Readonly<Record<string, string>> };
    return data['root-cert.pem'];
  };

  it('are needed for the roots in namespaces: without them there is one line, and all else goes on', async () => {
    await expect
      .poll(() => program.lines('discovery.roots_unpublished'))
      .toMatchObject([{ reason: expect.stringContaining('403') as string }]);
    await expect.poll(() => program.ready()).toMatchObject({ status: 200, body: '' });
    expect(await rootsIn('shop')).toBeUndefined();
    for (const resource of deployedRights()) await kube.apply(resource);
    await expect.poll(() => rootsIn('shop')).toContain('BEGIN CERTIFICATE');
    await expect.poll(() => program.lines('discovery.roots_published')).toHaveLength(1);
    expect(program.lines('discovery.roots_unpublished')).toHaveLength(1);
  });

  it('are enough: for all sources, the MeshConfig, the root of the mesh, and tokens', async () => {
    await expect.poll(() => program.ready()).toMatchObject({ status: 200, body: '' });
    await expect.poll(() => connects(program.secure)).toBe(true);
    const root = (await rootsIn('shop')) ?? '';
    const token = await kube.token('shop', 'web');
    const id = 'sidecar~10.0.0.1~web-0.shop~shop.svc.cluster.local';
    const answer = await askSecurely({
      ...{ port: program.secure, root, headers: { authorization: `Bearer ${token}` } },
      nodes: [{ id, metadata: { NAMESPACE: 'shop' } }],
    });
    expect(answer).toMatchObject({ status: 'ANSWERED' });
    for (const event of ['source_lost', 'authority_refused', 'caller_refused'])
      expect(program.lines(`discovery.${event}`)).toEqual([]);
  });

  it('write no other ConfigMap, and read no other Secret', async () => {
    const review = async (attributes: Readonly<Record<string, string>>) => {
      const { status } = (await kube.ask(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: `system:serviceaccount:${namespace}:pilot-discovery`,
            groups: ['system:serviceaccounts', 'system:authenticated'],
            resourceAttributes: { version: 'v1', ...attributes },
          },
        },
      )) as { readonly status: { readonly allowed: boolean } };
      return status.allowed;
    };
    const map = { resource: 'configmaps', namespace: 'shop' };
    expect(await review({ ...map, verb: 'patch', name: mapName })).toBe(true);
    expect(await review({ ...map, verb: 'create', name: mapName })).toBe(true);
    for (const [verb, name] of [
      ['patch', 'other'],
      ['create', 'other'],
      ['delete', mapName],
      ['list', ''],
    ] as const)
      expect(await review({ ...map, verb, name }), `${verb} ${name}`).toBe(false);
    const secret = { resource: 'secrets', namespace };
    expect(await review({ ...secret, verb: 'list', name: 'cacerts' })).toBe(true);
    for (const [verb, name, namespaceName] of [
      ['list', '', namespace],
      ['get', 'cacerts', namespace],
      ['list', 'cacerts', 'shop'],
      ['delete', 'istio-ca-secret', namespace],
    ] as const)
      expect(
        await review({ ...secret, verb, name, namespace: namespaceName }),
        `${verb} ${name}`,
      ).toBe(false);
  });
});
