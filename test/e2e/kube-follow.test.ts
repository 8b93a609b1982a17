import { readFileSync, writeFileSync } from 'node:fs';
import { Subscription } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccess } from '../../src/shared/kube/find-access.ts';
import { followObjects } from '../../src/shared/kube/follow.ts';
import { type KubeApi, kubeApi } from '../../src/shared/kube/kube-api.ts';
import type { KubeObject } from '../../src/shared/kube/kube-object.ts';
import {
  objectStore,
  type ObjectChange,
  type ObjectStore,
} from '../../src/shared/kube/object-store.ts';
import { leftOut } from '../support/left-out.ts';
import {
  kubeProgram,
  type KubeServer,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';

if (kubeProgram === undefined) leftOut('watching a real Kubernetes API', 'a program');

const secret = (name: string, text: string, namespace = 'default'): Resource => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: { text: Buffer.from(text).toString('base64') },
});

describe.skipIf(kubeProgram === undefined)('a real Kubernetes API', () => {
  let kube: KubeServer;
  const subscriptions = new Subscription();
  beforeAll(async () => (kube = await startKubeServer()), 90_000);
  afterAll(async () => {
    subscriptions.unsubscribe();
    await kube.dispose();
  });

  /** Follows the objects that a query finds, and records calls, changes and refusals. */
  function follow(
    kind: string,
    namespace: string,
    { name = '', kubeconfig = kube.kubeconfig } = {},
  ) {
    const real = kubeApi(findAccess(kubeconfig), 'pilot-agent');
    const calls: string[] = [];
    const refusals: string[] = [];
    const api: KubeApi = {
      get: (path, decode) => {
        calls.push(path.includes('limit=') ? 'list' : 'find');
        return real.get(path, decode);
      },
      watch: (path, decode) => {
        calls.push('watch');
        return real.watch(path, decode);
      },
    };
    const changes: ObjectChange<string>[] = [];
    let last: ObjectStore<string> | undefined;
    const next = (store: ObjectStore<string>) => {
      last = store;
      changes.push(...store.changes);
      if (store.trouble !== undefined) refusals.push(store.trouble.reason);
    };
    const error = (thrown: unknown) => {
      throw thrown;
    };
    const keep = ({ data, spec }: KubeObject) =>
      (data as { readonly text?: Buffer } | undefined)?.text?.toString() ?? JSON.stringify(spec);
    subscriptions.add(
      objectStore(followObjects(api, { kind, namespace, name }), keep).subscribe({ next, error }),
    );
    return {
      calls,
      changes,
      refusals,
      size: () => last?.objects.size,
      value: (key: string) => last?.objects.get(key)?.value,
      isCurrent: () => last?.isListed === true && last.trouble === undefined,
    };
  }

  it('tells each of a hundred changes of one Secret once, in their order, and nothing of its neighbours', async () => {
    await kube.apply(secret('one', '0'));
    const { changes, value } = follow('Secret', 'default', { name: 'one' });
    await expect.poll(() => value('default/one')).toBe('0');
    for (let n = 1; n <= 100; n += 1) {
      await kube.apply(secret('one', String(n)));
      if (n % 10 === 0) await kube.apply(secret('other', String(n)));
    }
    await expect.poll(() => value('default/one')).toBe('100');
    expect(changes.map(({ value: each }) => each)).toEqual(
      Array.from({ length: 101 }, (_, n) => String(n)),
    );
  });

  it('follows a custom resource, and the objects of a cluster', async () => {
    const gateways = follow('Gateway.networking.istio.io', 'default');
    const namespaces = follow('namespaces', '');
    await expect.poll(() => namespaces.value('default')).toContain('finalizers');
    const spec = {
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    };
    await kube.apply({
      apiVersion: 'networking.istio.io/v1',
      kind: 'Gateway',
      metadata: { name: 'front', namespace: 'default' },
      spec,
    });
    await expect
      .poll(() => JSON.parse(gateways.value('default/front') ?? 'null') as unknown)
      .toEqual(spec);
    await kube.remove({
      apiVersion: 'networking.istio.io/v1',
      kind: 'Gateway',
      metadata: { name: 'front', namespace: 'default' },
    });
    await expect.poll(() => gateways.size()).toBe(0);
  });

  it('of 1,000 Secrets tells what differs alone, through a restart after which the version is forgotten (410)', async () => {
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
    for (let n = 0; n < 1_000; n += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => kube.apply(secret(`s${n + i}`, 'a', 'many'))),
      );
    const begun = performance.now();
    const store = follow('Secret', 'many');
    await expect.poll(() => store.size()).toBe(1_000);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(store.calls.filter((each) => each === 'list')).toHaveLength(2); // pages: of 250, then of 1,000
    await expect.poll(() => store.calls.at(-1)).toBe('watch');

    const changeCount = store.changes.length;
    // The newest version belongs to a Secret that is not followed.
    await kube.apply(secret('elsewhere', 'b'));
    await kube.stop();
    await expect.poll(() => store.refusals.at(-1)).toMatch(/^https:.*: connect ECONNREFUSED/);
    expect(store.size()).toBe(1_000);
    await kube.start();
    await kube.apply(secret('s7', 'b', 'many'));
    await kube.remove(secret('s8', '', 'many'));
    await expect
      .poll(() => [store.value('many/s7'), store.size(), store.isCurrent()])
      .toEqual(['b', 999, true]);
    expect(store.changes.slice(changeCount).map(({ type, key }) => `${type} ${key}`)).toEqual([
      'changed many/s7',
      'removed many/s8',
    ]);
    // There are more lists if the API refuses while it starts.
    expect(store.calls.filter((each) => each === 'list').length).toBeGreaterThanOrEqual(4);
    expect(store.calls.filter((each) => each === 'find')).toHaveLength(1);
  });

  it('says clearly that it may not, or that its token is none, and goes on by itself when it may', async () => {
    const { kubeconfig, tokenFile } = await kube.account('default', 'reader');
    const rbac = 'rbac.authorization.k8s.io';
    const rbacObject = (kind: string) => ({
      apiVersion: `${rbac}/v1`,
      kind,
      metadata: { name: 'reader', namespace: 'default' },
    });
    const binding: Resource = {
      ...rbacObject('RoleBinding'),
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    };
    // These are the least rights that suffice to follow one Secret.
    await kube.apply({
      ...rbacObject('Role'),
      rules: [
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: ['one'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    });
    await kube.apply(secret('one', 'before'));
    const store = follow('Secret', 'default', { name: 'one', kubeconfig });
    await expect
      .poll(() => store.refusals.at(-1))
      .toMatch(
        /secrets: 403 secrets "one" is forbidden: User "system:serviceaccount:default:reader" cannot list resource "secrets" .* \(allow it by a Role with list and watch, and a RoleBinding\)$/,
      );
    await kube.apply(binding);
    await expect.poll(() => store.value('default/one')).toBe('before');

    await kube.remove(binding);
    await kube.stop();
    await kube.start();
    await kube.apply(secret('one', 'after'));
    await expect.poll(() => store.refusals.at(-1)).toContain('403 secrets "one" is forbidden');
    expect(store.value('default/one')).toBe('before');
    const token = readFileSync(tokenFile, 'utf8');
    writeFileSync(tokenFile, 'no-token');
    await expect
      .poll(() => store.refusals.at(-1))
      .toContain(
        '401 Unauthorized (the token or the certificate is not one that it knows, or has expired)',
      );
    expect(store.refusals.join()).not.toContain(token.slice(0, 20));
    writeFileSync(tokenFile, token);
    await kube.apply(binding);
    await expect.poll(() => store.value('default/one')).toBe('after');
    expect(store.isCurrent()).toBe(true);
  });
});
