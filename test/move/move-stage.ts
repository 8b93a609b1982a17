import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  endKubeProgram,
  type KubeServer,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { makeNetwork } from '../support/e2e/network.ts';
import { makeSidecar, ports, type SidecarPod } from '../support/e2e/sidecar-pod.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRelay, type Relay } from '../support/relay.ts';
import { type App, apps, serviceOf, type Side } from './apps.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/** A pod of an app, with what it sends. */
export interface MovedPod {
  readonly app: App;
  readonly sidecar: SidecarPod;
  /** Passes the calls of its application on to its sidecar. */
  readonly calls: string;
  /** A connection of a machine without a sidecar. */
  readonly stranger: string;
}

/** Pods in three namespaces that call each other, and two control planes on one API. */
export interface MoveStage {
  readonly kube: KubeServer;
  readonly traffic: Traffic;
  /** Returns the pods that run now. */
  pods(): readonly MovedPod[];
  start(side: Side): Promise<void>;
  stop(side: Side): Promise<void>;
  /** Connects agents that look for `service` to a control plane. */
  lead(service: Side, to: Side): Promise<void>;
  /** Replaces the pod of an app, if there is one, by one that looks for this control plane. */
  roll(app: App, service: Side): Promise<void>;
  /** The proxies that a control plane has, as `POD.NAMESPACE`. */
  proxiesOf(side: Side): Promise<readonly string[]>;
  /** Plugs this authority in, in the Secret `cacerts`. */
  plug(parts: AuthorityParts): Promise<void>;
  /** The lines of the log of `pilot-discovery`. */
  lines: KubeDiscovery['lines'];
  dispose(): Promise<void>;
}

const system = 'istio-system';
/** What each sidecar sees. */
const sees = apps.map(({ namespace }) => `${namespace}/*`);
/** Between looks of the kubelet, in ms. */
const kubeletPause = 500;

/** @param lifetime how long certificates last, as in `60s` */
export async function startMoveStage(
  authority: AuthorityParts,
  lifetime: string,
): Promise<MoveStage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-move-'));
  const kube = await startKubeServer();
  const plug = async (parts: AuthorityParts): Promise<void> => {
    await kube.apply(cacerts(parts));
    // istiod reads the Secret from a volume.
    writeKubernetesVolume(join(kube.folder, `istiod-${istiodPort}`, 'etc/cacerts'), filesOf(parts));
  };
  const istiodPort = await portsInARow(4);
  await plug(authority);
  await kube.apply(strict);
  const network = makeNetwork();
  const traffic = startTraffic();
  const [toIstiod = 0, toOurs = 0] = await freePorts(2);
  const entrances: Readonly<Record<Side, number>> = {
    istiod: toIstiod,
    'pilot-discovery': toOurs,
  };
  const relays = new Map<Side, Relay>();
  const pods = new Map<string, MovedPod>();
  let [istiod, ours]: [ChildProcess | undefined, KubeDiscovery | undefined] = [
    undefined,
    undefined,
  ];
  let made = 0;

  const secureOf = (side: Side) => (side === 'istiod' ? istiodPort + 2 : (ours?.secure ?? 0));
  const start = async (side: Side): Promise<void> => {
    if (side === 'istiod') {
      istiod = startKubeProgram('istiod', kube.folder, istiodPort);
      await eventually(() => connects(istiodPort + 2));
    } else {
      ours = await startKubeDiscovery(
        { kubeconfig: kube.kubeconfig, folder },
        { ISTIOD_CUSTOM_HOST: serviceOf['pilot-discovery'], POD_NAMESPACE: system },
        ...['--domain', 'cluster.local'],
      );
      await meshOf(kube, ours);
    }
  };
  const lead = async (service: Side, to: Side): Promise<void> => {
    await relays.get(service)?.close();
    const relay = makeRelay(entrances[service], secureOf(to));
    relays.set(service, relay);
    await relay.open();
  };
  const roll = async (app: App, service: Side): Promise<void> => {
    const name = `${app.name}-${++made}`;
    const mesh = {
      ...{ istiodPort: entrances[service], plaintextPort: 0 },
      apply: (resource: Resource) => kube.apply(resource),
      status: (resource: Resource, status: unknown) => kube.status(resource, status),
      pod: (at: string, namespace: string, account: string) => kube.pod(at, namespace, account),
      token: (namespace: string, account: string) => kube.token(namespace, account),
    };
    const sidecar = await makeSidecar(mesh, network, {
      ...{ name, app: app.name, namespace: app.namespace, mode: 'NONE' },
      ...{ control: serviceOf[service], sees, endpoint: 'starting' },
      ...(app.agentOf !== undefined && { agentOf: app.agentOf }),
      env: { SECRET_TTL: lifetime },
    });
    const isReady = async () => (await sidecar.ready()).status === 200;
    await eventually(isReady, { within: 120_000 });
    const before = pods.get(app.name);
    const pod = {
      ...{ app, sidecar },
      calls: await sidecar.connection(sidecar),
      stranger: join(network.folder, name),
    };
    await network.outside.relay([[pod.stranger, `${sidecar.address}:${ports.application}`]]);
    pods.set(app.name, pod);
    await sidecar.serve();
    if (before !== undefined) {
      await traffic.take(pod, before);
      await leave(kube, before);
    }
  };
  const kubelet = startKubelet(kube, () => [...pods.values()]);
  return {
    ...{ kube, traffic, start, lead, roll },
    pods: () => [...pods.values()],
    lines: (event) => ours?.lines(event) ?? [],
    async stop(side) {
      if (side === 'istiod') {
        await endKubeProgram(istiod);
        istiod = undefined;
      } else {
        await ours?.end();
        ours = undefined;
      }
    },
    async proxiesOf(side) {
      const port = side === 'istiod' ? istiodPort + 1 : (ours?.http ?? 0);
      const { body } = await ask(port, '/debug/syncz');
      const names = body.matchAll(/"proxy": ?"([^"]+)"/g);
      return [...names].map(([, name = '']) => name);
    },
    plug,
    async dispose() {
      await traffic.stop();
      await kubelet.stop();
      await Promise.all([...pods.values()].map(({ sidecar }) => sidecar.dispose()));
      for (const relay of relays.values()) await relay.close();
      await ours?.end();
      await endKubeProgram(istiod);
      network.dispose();
      await kube.dispose();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Removes a pod as Kubernetes does: its endpoint goes while its agent drains. */
async function leave(kube: KubeServer, { app, sidecar }: MovedPod): Promise<void> {
  const { name } = sidecar;
  const { namespace } = app;
  sidecar.agent.kill('SIGTERM');
  await kube.remove({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace },
  });
  await sidecar.agent.exit;
  const metadata = { name: `${name}-0`, namespace };
  await kube.remove({ apiVersion: 'v1', kind: 'Pod', metadata });
  await kube.remove({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name, namespace },
  });
  await sidecar.dispose();
}

/** Copies the roots of the ConfigMap of each namespace into its pods, until it is stopped. */
function startKubelet(kube: KubeServer, pods: () => readonly MovedPod[]) {
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      for (const pod of pods()) {
        const file = join(pod.sidecar.folder, 'var/run/secrets/istio/root-cert.pem');
        const roots = await rootsOf(kube, pod.app.namespace);
        if (roots === undefined || !pods().includes(pod)) continue;
        if (readFileSync(file, 'utf8') !== roots) writeFileSync(file, roots);
      }
      await new Promise((done) => setTimeout(done, kubeletPause));
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      return loop;
    },
  };
}

interface RootMap {
  readonly metadata: { readonly resourceVersion: string };
  readonly data: Readonly<Record<string, string>>;
}

/** The ConfigMap with the roots of a namespace; undefined if there is none. */
export const rootMapOf = (kube: KubeServer, namespace: string) =>
  kube
    .ask('GET', `/api/v1/namespaces/${namespace}/configmaps/istio-ca-root-cert`)
    .catch(() => undefined) as Promise<RootMap | undefined>;

const rootsOf = async (kube: KubeServer, namespace: string) =>
  (await rootMapOf(kube, namespace))?.data['root-cert.pem'];

/** No pod of the mesh takes plain text. */
const strict: Resource = {
  apiVersion: 'security.istio.io/v1',
  kind: 'PeerAuthentication',
  metadata: { name: 'default', namespace: system },
  spec: { mtls: { mode: 'STRICT' } },
};

const filesOf = ({ certificate, key, chain, roots }: AuthorityParts) => ({
  'ca-cert.pem': certificate,
  'ca-key.pem': key.toString(),
  'cert-chain.pem': chain,
  'root-cert.pem': roots,
});

const cacerts = (parts: AuthorityParts): Resource => {
  const data = Object.entries(filesOf(parts)).map(([name, text]) => [
    name,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: system, name: 'cacerts' },
    data: Object.fromEntries(data) as unknown,
  };
};
