import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, ask } from '../ask.ts';
import { makeRelay } from '../relay.ts';
import { realEnvoy } from './bad-input-program.ts';
import { istioAgent } from './istio-agent.ts';
import type { Mesh } from './kube.ts';
import type { Resource } from './kube-server.ts';
import type { Network } from './network.ts';
import { type RunningAgent, startAgent } from './rig.ts';

export type InterceptionMode = 'NONE' | 'REDIRECT';

export interface SidecarOptions {
  readonly name: string;
  readonly namespace: string;
  /** The name of its service account and of its Service; default the name of the pod. */
  readonly app?: string;
  /** The name of the control plane; default the name of istiod. */
  readonly control?: string;
  /** The hosts that its sidecar sees without capture; default the hosts of its namespace. */
  readonly sees?: readonly string[];
  /**
   * The state of its endpoint. If it is `starting`, no client calls the endpoint before `serve`.
   */
  readonly endpoint?: 'ready' | 'starting';
  readonly mode: InterceptionMode;
  /**
   * The role of the proxy; by default a sidecar. A `router` is a gateway, which serves the Gateways
   * that select it.
   */
  readonly role?: 'router';
  /** The project whose agent runs in it; default ours. */
  readonly agentOf?: 'Istio';
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A pod with its own network, as Istio 1.26 makes it: the default ports, the user of the sidecar,
 * an application, and a Service.
 */
export interface SidecarPod {
  readonly name: string;
  readonly folder: string;
  readonly address: string;
  readonly agent: RunningAgent;
  ready(): Promise<Answer>;
  /** Requests a hot restart from the agent. */
  restart(): Promise<Answer>;
  /** Resolves to the answer of Envoy's admin endpoint. */
  admin(path: string): Promise<Answer>;
  /** The address of its Service. */
  readonly serviceIp: string;
  /** Marks its endpoint as ready in the API. */
  serve(): Promise<unknown>;
  /**
   * Resolves to the path of a Unix socket. A connection to it is forwarded as the application's own
   * connection to that Service.
   */
  connection(to: SidecarPod): Promise<string>;
  dispose(): Promise<void>;
}

/** The user id of Istio's sidecar. */
const user = 1337;
const controlOfIstio = 'istiod.istio-system.svc';
/** The port of each Service, and of the application of each pod. */
export const ports = { service: 8000, application: 8080 };

/** The times of a parent: it drains for 15 s, and ends after 20 s. */
const times = { drainDuration: '15s', parentShutdownDuration: '20s' };

/**
 * Makes a pod and starts its agent. The application answers with the headers of the request, as
 * JSON.
 */
export async function makeSidecar(
  kube: Mesh,
  network: Network,
  options: SidecarOptions,
): Promise<SidecarPod> {
  const { name, namespace, mode, agentOf, env = {} } = options;
  const { app = name, control = controlOfIstio, role = 'sidecar' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-sidecar-'));
  const path = (file: string) => join(folder, file);
  const place = network.place(name, [control]);
  await kube.pod(folder, namespace, app);
  const serviceIp = await announce(kube, options, place.address);

  const istiod = makeRelay(path('istiod.sock'), kube.istiodPort);
  await istiod.open();
  const application = createServer(
    { keepAliveTimeout: 60_000 },
    (request, response) => void response.end(JSON.stringify(request.headers)),
  );
  await once(application.listen(path('application.sock')), 'listening');
  await place.relay([
    [15012, path('istiod.sock')],
    [
      `${mode === 'NONE' ? '127.0.0.1' : place.address}:${ports.application}`,
      path('application.sock'),
    ],
    [path('status.sock'), 15020],
    [path('admin.sock'), 15000],
  ]);
  if (mode === 'REDIRECT') place.capture(user);

  copyFileSync(realEnvoy(), path('envoy')); // where that user may execute it
  const configPath = path('etc/istio/proxy');
  const istio = agentOf === undefined ? undefined : istioAgent(folder, configPath);
  execFileSync('chown', ['-R', `${user}:${user}`, folder]);
  const agent = startAgent(
    folder,
    [
      'proxy',
      role,
      '--domain',
      `${namespace}.svc.cluster.local`,
      '--proxyLogLevel=warning',
      '--proxyComponentLogLevel=misc:error',
      '--log_output_level=default:info',
    ],
    {
      POD_NAME: `${name}-0`,
      POD_NAMESPACE: namespace,
      INSTANCE_IP: place.address,
      SERVICE_ACCOUNT: app,
      PILOT_CERT_PROVIDER: 'istiod',
      CA_ADDR: `${control}:15012`,
      ISTIO_META_CLUSTER_ID: 'Kubernetes',
      ISTIO_META_INTERCEPTION_MODE: mode,
      PROXY_CONFIG: JSON.stringify({
        discoveryAddress: `${control}:15012`,
        statusPort: 15020,
        configPath,
        binaryPath: path('envoy'),
        ...(istio !== undefined && { proxyBootstrapTemplatePath: istio.template }),
        ...times,
      }),
      ...env,
    },
    {
      cwd: folder,
      wrap: [...place.enter, ...asUser(user)],
      ...(istio !== undefined && { command: [istio.program] }),
    },
  );
  return {
    ...{ name, folder },
    address: place.address,
    agent,
    ready: () => ask(path('status.sock'), '/healthz/ready'),
    restart: () => ask(path('status.sock'), '/restart', { method: 'POST' }),
    admin: (adminPath) => ask(path('admin.sock'), adminPath),
    serviceIp,
    serve: () => kube.apply(endpointOf(options, place.address, 'ready')),
    async connection(to) {
      const socket = path(`${to.name}.sock`);
      await place.relay([
        [socket, mode === 'NONE' ? ports.service : `${to.serviceIp}:${ports.service}`],
      ]);
      return socket;
    },
    async dispose() {
      agent.kill('SIGKILL');
      await agent.exit;
      await istiod.close();
      application.close();
      application.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Returns the start of a command line that runs a command as a user. The user may read all files,
 * because Node and the program may be in folders that only root may read.
 */
export const asUser = (id: number): readonly string[] => [
  'setpriv',
  `--reuid=${id}`,
  `--regid=${id}`,
  '--clear-groups',
  '--inh-caps=+dac_read_search',
  '--ambient-caps=+dac_read_search',
];

/**
 * Creates the resources of the pod in the API, with their status, as a deployment, its controllers
 * and the kubelet would. Resolves to the address of its Service.
 */
async function announce(kube: Mesh, options: SidecarOptions, address: string): Promise<string> {
  const { name, namespace, mode, role, app = name, endpoint = 'ready' } = options;
  const labels = { app, pod: name };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-0`,
      namespace,
      labels: { ...labels, 'security.istio.io/tlsMode': 'istio' },
    },
    spec: { serviceAccountName: app, containers: [{ name: 'application', image: 'application' }] },
  };
  await kube.apply(pod);
  await kube.status(pod, {
    phase: 'Running',
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: 'Ready', status: 'True' }],
  });
  const service = await kube.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app, namespace },
    spec: {
      selector: { app },
      ports: [{ name: 'http', port: ports.service, targetPort: ports.application }],
    },
  });
  await kube.apply(endpointOf(options, address, endpoint));
  if (mode === 'NONE' && role === undefined) await bindToPorts(kube, options, address);
  return (service['spec'] as { readonly clusterIP: string }).clusterIP;
}

/** Returns the EndpointSlice of a pod. */
const endpointOf = (
  { name, namespace, app = name }: SidecarOptions,
  address: string,
  state: 'ready' | 'starting',
): Resource => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace, labels: { 'kubernetes.io/service-name': app } },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: [address],
      conditions: { ready: state === 'ready' },
      targetRef: { kind: 'Pod', name: `${name}-0`, namespace },
    },
  ],
  ports: [{ name: 'http', port: ports.application, protocol: 'TCP' }],
});

/**
 * Creates the Sidecar resource of a pod without capture. It names the port and the hosts for which
 * the sidecar listens.
 */
async function bindToPorts(
  kube: Mesh,
  { name, namespace, sees = ['./*'] }: SidecarOptions,
  bind: string,
): Promise<void> {
  const ingress = {
    port: { number: ports.application, protocol: 'HTTP', name: 'http' },
    bind,
    defaultEndpoint: `127.0.0.1:${ports.application}`,
  };
  await kube.apply({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name, namespace },
    spec: {
      workloadSelector: { labels: { pod: name } },
      ingress: [ingress],
      egress: [{ hosts: sees }],
    },
  });
}
