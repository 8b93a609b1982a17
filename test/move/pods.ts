import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeServer, Resource } from '../support/e2e/kube-server.ts';
import { makeNetwork } from '../support/e2e/network.ts';
import { makeSidecar, ports, type SidecarPod } from '../support/e2e/sidecar-pod.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRelay, type Relay } from '../support/relay.ts';
import { type App, serviceOf, type Side } from './apps.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/** A running pod of an app, with sockets to its sidecar. */
export interface MovedPod {
  readonly app: App;
  readonly sidecar: SidecarPod;
  /** The Unix socket at which the sidecar takes the calls of its application. */
  readonly calls: string;
  /** The Unix socket of a connection from a machine without a sidecar. */
  readonly stranger: string;
}

/** Pods of apps that call each other. They find a control plane by the name of its Service. */
export interface Pods {
  readonly traffic: Traffic;
  /** Returns the pods that run now. */
  pods(): readonly MovedPod[];
  /** Connects agents that look for `service` to a secure port of this machine. */
  lead(service: Side, port: number): Promise<void>;
  /** Replaces the pod of an app, if there is one, by one that looks for this control plane. */
  roll(app: App, service: Side, env?: NodeJS.ProcessEnv): Promise<void>;
  dispose(): Promise<void>;
}

/** The pause between two looks of the kubelet, in ms. */
const kubeletPause = 500;

/** @param env variables of each agent */
export async function startPods(
  kube: KubeServer,
  apps: readonly App[],
  env: NodeJS.ProcessEnv,
): Promise<Pods> {
  const network = makeNetwork();
  const traffic = startTraffic(apps);
  const [toIstiod = 0, toOurs = 0] = await freePorts(2);
  const entrances: Readonly<Record<Side, number>> = {
    istiod: toIstiod,
    'pilot-discovery': toOurs,
  };
  /** The hosts that each sidecar sees. */
  const sees = apps.map(({ namespace }) => `${namespace}/*`);
  const relays = new Map<Side, Relay>();
  const pods = new Map<string, MovedPod>();
  let podCount = 0;
  const lead = async (service: Side, port: number): Promise<void> => {
    await relays.get(service)?.close();
    const relay = makeRelay(entrances[service], port);
    relays.set(service, relay);
    await relay.open();
  };
  const roll = async (app: App, service: Side, more: NodeJS.ProcessEnv = {}): Promise<void> => {
    const name = `${app.name}-${++podCount}`;
    const mesh = {
      ...{ istiodPort: entrances[service], plaintextPort: 0 },
      apply: (resource: Resource) => kube.apply(resource),
      status: (resource: Resource, status: unknown) => kube.status(resource, status),
      pod: (place: string, namespace: string, account: string) =>
        kube.pod(place, namespace, account),
      token: (namespace: string, account: string) => kube.token(namespace, account),
    };
    const sidecar = await makeSidecar(mesh, network, {
      ...{ name, app: app.name, namespace: app.namespace, mode: 'NONE' },
      ...{ control: serviceOf[service], sees, endpoint: 'starting' },
      ...(app.agentOf !== undefined && { agentOf: app.agentOf }),
      env: { ...env, ...more },
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
    ...{ traffic, lead, roll },
    pods: () => [...pods.values()],
    async dispose() {
      await traffic.stop();
      await kubelet.stop();
      await Promise.all([...pods.values()].map(({ sidecar }) => sidecar.dispose()));
      for (const relay of relays.values()) await relay.close();
      network.dispose();
    },
  };
}

/** Removes a pod as Kubernetes does: its endpoint is removed while its agent drains. */
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

/** Resolves to the ConfigMap with the roots of a namespace; undefined if there is none. */
export const rootMapOf = (kube: KubeServer, namespace: string) =>
  kube
    .ask('GET', `/api/v1/namespaces/${namespace}/configmaps/istio-ca-root-cert`)
    .catch(() => undefined) as Promise<RootMap | undefined>;

const rootsOf = async (kube: KubeServer, namespace: string) =>
  (await rootMapOf(kube, namespace))?.data['root-cert.pem'];
