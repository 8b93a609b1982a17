import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Answer, ask } from '../ask.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from '../free-ports.ts';
import type { Mesh } from './kube.ts';
import { processesOf, type RunningAgent, startAgent, type StartOptions } from './rig.ts';

export interface PodOptions {
  /**
   * The name of the pod and of its namespace. Each pod has its own namespace, and sees no other.
   */
  readonly name: string;
  /** The port at which it reaches istiod; default istiod's own port. */
  readonly discoveryPort?: number;
  readonly caPort?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A pod without its own network. Its agent has the files and variables of a pod of Istio 1.26,
 * other ports than its neighbours, and the interception mode NONE. The pod has a listener of the
 * mesh for requests to an upstream. Another listener, for requests to the pod itself, accepts mTLS
 * and plain text.
 */
export interface MeshPod {
  readonly folder: string;
  readonly ports: {
    readonly admin: number;
    readonly status: number;
    readonly outbound: number;
    readonly inbound: number;
  };
  readonly proxyConfig: { readonly configPath: string };
  /** Starts the agent, or starts it again. The flags and variables are only for that start. */
  start(flags?: readonly string[], options?: Pick<StartOptions, 'env' | 'wrap'>): RunningAgent;
  ready(): Promise<Answer>;
  /**
   * Sends a request through the listener for the upstream, or through the listener for the
   * application in the pod. `port` selects another port.
   */
  request(direction: 'outbound' | 'inbound', port?: number): Promise<Answer>;
  /** Requests a hot restart from the agent. */
  restart(): Promise<Answer>;
  /**
   * Resolves to the serial of the certificate that a peer in the mesh receives; undefined if there
   * is none.
   */
  shownSerial(): Promise<string | undefined>;
  envoys(): readonly number[];
  /**
   * Returns the ids of the processes that were started for this pod and still run, except its
   * agents.
   */
  processes(): readonly number[];
  /** Adds a port of the upstream to the mesh. It replaces the entry of the same name. */
  serve(port: number, name?: string): Promise<unknown>;
  dispose(): Promise<void>;
}

/** The name of the upstream in the mesh. */
export const upstreamHost = 'upstream.test';
/** The service account of each pod. */
export const account = 'pod';

/** Makes a pod. `target` is the port of the upstream, and of the application in the pod. */
export async function makePod(
  kube: Mesh,
  target: number,
  { name, discoveryPort, caPort, env = {} }: PodOptions,
): Promise<MeshPod> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-pod-'));
  const [admin = 0, status = 0, prometheus = 0, health = 0, outbound = 0, inbound = 0] =
    await freePorts(6);
  await kube.pod(folder, name, account);
  const root = readFileSync(join(folder, 'var/run/secrets/istio/root-cert.pem'), 'utf8');
  const address = (port: number | undefined) => `localhost:${port ?? kube.istiodPort}`;
  const proxyConfig = {
    configPath: join(folder, 'etc/istio/proxy'),
    discoveryAddress: address(discoveryPort),
    controlPlaneAuthPolicy: 'MUTUAL_TLS',
    statusPort: status,
    proxyAdminPort: admin,
  };
  const agents: RunningAgent[] = [];
  const processes = () =>
    processesOf(folder).filter((pid) => agents.every((agent) => agent.pid !== pid));

  const pod: MeshPod = {
    folder,
    ports: { admin, status, outbound, inbound },
    proxyConfig,
    processes,
    start(flags = [], options = {}) {
      const agent = startAgent(
        folder,
        [
          'proxy',
          'sidecar',
          '--domain',
          `${name}.svc.cluster.local`,
          '--proxyLogLevel=warning',
          '--proxyComponentLogLevel=misc:error',
          '--log_output_level=default:info',
          ...flags,
        ],
        {
          POD_NAME: `${name}-0`,
          POD_NAMESPACE: name,
          INSTANCE_IP: '10.1.2.3',
          SERVICE_ACCOUNT: account,
          PILOT_CERT_PROVIDER: 'istiod',
          CA_ADDR: address(caPort),
          ISTIO_META_CLUSTER_ID: 'Kubernetes',
          ISTIO_META_INTERCEPTION_MODE: 'NONE',
          PROXY_CONFIG: JSON.stringify(proxyConfig),
          ENVOY_PROMETHEUS_PORT: String(prometheus),
          ENVOY_STATUS_PORT: String(health),
          ...env,
          ...options.env,
        },
        { cwd: folder, ...options },
      );
      agents.push(agent);
      return agent;
    },
    ready: () => ask(status, '/healthz/ready'),
    request: (direction, port = { outbound, inbound }[direction]) =>
      ask(port, '/', { host: upstreamHost, timeout: 2_000 }),
    restart: () => ask(status, '/restart', { method: 'POST' }),
    shownSerial: () => shownSerial(inbound, root),
    envoys: () =>
      processes().filter((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--restart-epoch'),
      ),
    serve: (port, entry = `upstream-${port}`) =>
      kube.apply({
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { name: entry, namespace: name },
        spec: {
          hosts: [upstreamHost],
          exportTo: ['.'],
          location: 'MESH_EXTERNAL',
          resolution: 'STATIC',
          ports: [{ number: port, name: 'http', protocol: 'HTTP' }],
          endpoints: [{ address: '127.0.0.1', ports: { http: target } }],
        },
      }),
    async dispose() {
      for (const { pid } of agents) kill(pid);
      await eventually(() => processes().length === 0).finally(() => {
        processes().forEach(kill);
        rmSync(folder, { recursive: true, force: true });
      });
    },
  };
  mkdirSync(proxyConfig.configPath, { recursive: true });
  const ingress = {
    port: { number: inbound, protocol: 'HTTP', name: 'http' },
    bind: '127.0.0.1',
    defaultEndpoint: `127.0.0.1:${target}`,
  };
  await kube.apply({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name: 'own', namespace: name },
    spec: { ingress: [ingress], egress: [{ hosts: ['./*'] }] },
  });
  await pod.serve(outbound);
  return pod;
}

/**
 * Resolves to the serial that a sidecar of the mesh receives. The protocol `istio` (ALPN) marks the
 * client as a sidecar.
 */
function shownSerial(port: number, ca: string): Promise<string | undefined> {
  return new Promise((done) => {
    const options = {
      port,
      host: '127.0.0.1',
      ca,
      ALPNProtocols: ['istio'],
      timeout: 20_000,
      checkServerIdentity: () => undefined,
    };
    const socket = connect(options, () => {
      done(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket
      .on('timeout', () => socket.destroy())
      .on('error', () => undefined)
      .on('close', () => done(undefined));
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
