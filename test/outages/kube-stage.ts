import { sign } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { TwoSidecars } from '../../demo/two-sidecars.ts';
import { firstState, type MeshState, type Target } from '../edits/plan.ts';
import { startStage } from '../edits/stage.ts';
import { eventually } from '../support/eventually.ts';
import { type KubeServer, type Resource, startKubeServer } from '../support/e2e/kube-server.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRelay, type Relay } from '../support/relay.ts';
import { type Clock, type Instance, startInstance } from './control-planes.ts';
import type { Mark, MarkedMesh } from './run-outages.ts';

/** A mesh whose control planes read a real Kubernetes API, through a relay. */
export interface KubeStage extends MarkedMesh {
  readonly kube: KubeServer;
  /** The relay between the control planes and the API. */
  readonly relay: Relay;
  /** The file of the token that the control planes use. */
  readonly tokenFile: string;
  /** Starts another control plane. It becomes `instance` when proxies are sent to it. */
  start(clock?: Clock): Promise<Instance>;
  /** Connects all proxies to a control plane. */
  sendTo(instance: Instance): Promise<void>;
  /**
   * Gives the control planes the right to read these kinds of the core group, EndpointSlices, and
   * the kinds of Istio.
   */
  allow(kinds: readonly string[]): Promise<void>;
  dispose(): Promise<void>;
}

export const coreKinds = ['services', 'pods', 'nodes', 'namespaces', 'configmaps'];

const istioGroups = ['networking.istio.io', 'security.istio.io', 'telemetry.istio.io'];
const [rbac, account] = ['rbac.authorization.k8s.io', 'discovery'];
const roleOf = (core: readonly string[]): Resource => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: account },
  rules: [
    [[''], core],
    [['discovery.k8s.io'], ['endpointslices']],
    [istioGroups, ['*']],
  ].map(([apiGroups, resources]) => ({ apiGroups, resources, verbs: ['get', 'list', 'watch'] })),
});

/** Returns a state in which `a.mesh` has this status. */
const marked = (mark: Mark): MeshState => ({
  ...firstState,
  hosts: {
    ...firstState.hosts,
    a: { ...firstState.hosts.a, inMesh: mark === 418 ? 'answer' : 'fault' },
  },
});

const resourcesIn = (text: string): readonly Resource[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Resource);

export async function startKubeStage(): Promise<KubeStage> {
  const kube = await startKubeServer();
  const [port = 0] = await freePorts(1);
  const relay = makeRelay(port, kube.port);
  await relay.open();
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const { kubeconfig, tokenFile } = await kube.account('default', account);
  writeFileSync(
    kubeconfig,
    readFileSync(kubeconfig, 'utf8').replaceAll(`:${kube.port}`, `:${port}`),
  );
  const allow = async (kinds: readonly string[]): Promise<void> => {
    await kube.apply(roleOf(kinds));
  };
  await allow(coreKinds);
  await kube.apply({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: account },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
  });
  const control = controlPlanes(kube, ['--registries', 'Kubernetes', '--kubeconfig', kubeconfig]);
  const stage = await startStage(firstState, (sidecars) => control.begin(sidecars));
  let written: ReadonlyMap<string, string> = stage.filesOf(firstState);
  return {
    ...{ kube, stage, relay, tokenFile, allow },
    instance: control.instance,
    start: control.start,
    sendTo: control.sendTo,
    steady: [
      ...(['steady', 'echo', 'b'] as const).map((name): Target => `sidecar ${name}.mesh`),
      ...(['steady', 'echo', 'b'] as const).map((name): Target => `gateway ${name}.example.com`),
    ],
    markedTarget: 'sidecar a.mesh',
    async mark(mark) {
      const files = stage.filesOf(marked(mark));
      for (const [name, text] of files)
        if (written.get(name) !== text)
          for (const resource of resourcesIn(text)) await kube.apply(resource);
      written = files;
    },
    async dispose() {
      await stage.dispose();
      await control.dispose();
      await relay.close();
      await kube.dispose();
    },
  };
}

/** Makes control planes behind one address, to which proxies are connected. */
function controlPlanes(kube: KubeServer, flags: readonly string[]) {
  const instances: Instance[] = [];
  let [current, address, front]: [Instance | undefined, number, Relay | undefined] = [
    undefined,
    0,
    undefined,
  ];
  let command: TwoSidecars['discovery'] = { args: [], env: {} };
  const instance = (): Instance => {
    if (current === undefined) throw new Error('no control plane has been started');
    return current;
  };
  const start = async (clock?: Clock): Promise<Instance> => {
    const started = await startInstance(command, flags, clock);
    instances.push(started);
    return started;
  };
  const sendTo = async (next: Instance): Promise<void> => {
    await front?.close();
    front = makeRelay(address, next.xds);
    await front.open();
    current = next;
  };
  return {
    ...{ instance, start, sendTo },
    async begin({ configDir, discovery }: TwoSidecars) {
      for (const name of readdirSync(configDir))
        for (const resource of resourcesIn(readFileSync(join(configDir, name), 'utf8')))
          await kube.apply(resource);
      command = discovery;
      const flag = discovery.args.indexOf('--grpcAddr');
      address = Number(discovery.args[flag + 1]?.split(':')[1]);
      await sendTo(await start());
      return [];
    },
    async dispose() {
      await Promise.all(instances.map((each) => each.end('SIGKILL')));
      await front?.close();
    },
  };
}

/** Copies the data of a stopped API. The returned function puts the copy back. */
export function backUp({ folder }: KubeServer): () => void {
  const [data, copy] = [join(folder, 'etcd'), join(folder, 'etcd-copy')];
  cpSync(data, copy, { recursive: true });
  return () => {
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
  };
}

/** Makes etcd forget all versions before the newest one. */
export async function compact({ port }: KubeServer): Promise<void> {
  const etcd = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port + 1}/v3/kv/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`etcd: ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { header } = (await etcd('range', { key: 'AA==', limit: 1 })) as {
    readonly header: { readonly revision: string };
  };
  await etcd('compaction', { revision: header.revision, physical: true });
}

/** Resolves to the paths of the kinds of a version. */
async function pathsOf(kube: KubeServer, groupVersion: string): Promise<readonly string[]> {
  const version = `/apis/${groupVersion}`;
  const { resources } = (await kube.ask('GET', version)) as {
    readonly resources: readonly { readonly name: string }[];
  };
  return resources.flatMap(({ name }) => (name.includes('/') ? [] : [`${version}/${name}`]));
}

/**
 * Resolves when a watch of each kind from this version gets the answer 410. The API prepares each
 * version of a kind at the first request for it, and answers 429 meanwhile.
 */
export async function forgotten(kube: KubeServer, version: string): Promise<void> {
  const lists = await Promise.all(
    ['discovery.k8s.io', ...istioGroups].map(async (group) => {
      const { versions } = (await kube.ask('GET', `/apis/${group}`)) as {
        readonly versions: readonly { readonly groupVersion: string }[];
      };
      return Promise.all(versions.map(({ groupVersion }) => pathsOf(kube, groupVersion)));
    }),
  );
  const query = `watch=1&timeoutSeconds=1&resourceVersion=${version}`;
  for (const path of [...coreKinds.map((kind) => `/api/v1/${kind}`), ...lists.flat(2)])
    await eventually(() =>
      kube.ask('GET', `${path}?${query}`).then(
        (event) => JSON.stringify(event).includes('"code":410'),
        (error: unknown) => String(error).includes(': 410 '),
      ),
    );
}

/** Makes a token of the account that expired an hour ago. */
export async function expiredToken(kube: KubeServer): Promise<string> {
  const [head = '', payload = ''] = (
    await kube.token('default', account, 'https://kubernetes.default.svc')
  ).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
  const old = { ...claims, nbf: claims.exp - 14_400, iat: claims.exp - 14_400 };
  const text = JSON.stringify({ ...old, exp: claims.exp - 7_200 });
  const signed = `${head}.${Buffer.from(text).toString('base64url')}`;
  const key = readFileSync(join(kube.folder, 'sa.key'));
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}
