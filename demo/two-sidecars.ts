import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { certificateAuthority, type CertificateAuthority } from './certificates.ts';
import { type Command, meshAgent, type ProxyPorts } from './mesh-agent.ts';

/** A mesh of two sidecars and a control plane, ready to be started. */
export interface TwoSidecars {
  /** The folder of YAML that the control plane reads. */
  readonly configDir: string;
  /** The authority that signs the certificates of the mesh. */
  readonly ca: CertificateAuthority;
  /** The command of `pilot-discovery`. */
  readonly discovery: Command;
  /** The commands of `pilot-agent`, by name of the sidecar. */
  readonly agents: Readonly<Record<'client' | 'echo', Command>>;
  /** Ends the two applications. */
  dispose(): Promise<void>;
}

export interface MeshPorts {
  /** The port of the client's sidecar for requests to `echo.mesh`. */
  readonly service: number;
  readonly xds: number;
  readonly http: number;
  readonly monitoring: number;
  readonly client: ProxyPorts;
  readonly echo: ProxyPorts;
  /** The port of the sidecar of `echo` for requests to each version. */
  readonly inbound: readonly [number, number];
}

/** Loopback addresses of the two, so that they may have the same ports. */
export const addresses = { client: '127.0.0.20', echo: '127.0.0.21' };

/**
 * The services are visible only in the namespace of the client. Without captured traffic, a sidecar
 * listens on 127.0.0.1 for each service that is visible to it. So otherwise both sidecars would
 * accept the requests.
 */
const namespaces = { client: 'shop', echo: 'default' };

/**
 * Makes a mesh below `folder`: certificates for two identities, YAML, and an application in two
 * versions. Both versions run at once, and answer with their names.
 *
 * @param heard is called with the headers of each request that an application gets
 */
export async function twoSidecars(
  folder: string,
  ports: MeshPorts,
  heard: (headers: IncomingHttpHeaders) => void = () => undefined,
): Promise<TwoSidecars> {
  const ca = await certificateAuthority();
  const applications = await Promise.all([application('v1', heard), application('v2', heard)]);
  const configDir = join(folder, 'config');
  mkdirSync(configDir, { recursive: true });
  const [v1 = 0, v2 = 0] = applications.map((server) => (server.address() as AddressInfo).port);
  for (const [name, text] of Object.entries(resources(ports, [v1, v2])))
    writeFileSync(join(configDir, name), text);
  const agent = (name: 'client' | 'echo'): Promise<Command> =>
    meshAgent(folder, ports.xds, ca, {
      role: 'sidecar',
      name,
      namespace: namespaces[name],
      address: addresses[name],
      labels: { app: name },
      ports: ports[name],
      env: { ISTIO_META_INTERCEPTION_MODE: 'NONE' },
    });
  const listen = { grpcAddr: ports.xds, httpAddr: ports.http, monitoringAddr: ports.monitoring };
  return {
    configDir,
    ca,
    discovery: {
      args: [
        'discovery',
        '--configDir',
        configDir,
        ...Object.entries(listen).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
      ],
      env: {},
    },
    agents: { client: await agent('client'), echo: await agent('echo') },
    async dispose() {
      for (const server of applications) {
        server.close();
        server.closeAllConnections();
      }
      await Promise.resolve();
    },
  };
}

/** Starts an application that answers with its version. A port is chosen if none is named. */
export async function application(
  version: string,
  heard: (headers: IncomingHttpHeaders) => void,
  { host, port }: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<Server> {
  // The long timeout prevents that an idle connection closes at the moment at which Envoy uses it.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, ({ headers }, response) => {
    heard(headers);
    response.end(`${version}\n`);
  });
  await once(server.listen(port, host), 'listening');
  return server;
}

/** The YAML of the mesh, by name of the file. */
function resources(
  { service, inbound }: MeshPorts,
  applications: readonly [number, number],
): Readonly<Record<string, string>> {
  const versions = inbound.map((port, index) => ({
    version: `v${index + 1}`,
    port,
    application: applications[index] ?? 0,
  }));
  return {
    '10-echo.yaml': `# The service echo.mesh, for the namespace of the client. It runs twice behind one sidecar.
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: echo, namespace: default }
spec:
  hosts: [echo.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${service}, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: echo } }
  exportTo: [${namespaces.client}]
${versions
  .map(
    ({ version, port }) => `---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: echo-${version}, namespace: default }
spec:
  address: ${addresses.echo}
  ports: { http: ${port} }
  labels: { app: echo, version: ${version}, security.istio.io/tlsMode: istio }
  serviceAccount: echo
`,
  )
  .join('')}`,
    '20-sidecar.yaml': `# The ports at which the sidecar of echo takes requests, and the application behind each.
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: echo, namespace: default }
spec:
  workloadSelector: { labels: { app: echo } }
  ingress:
${versions
  .map(
    ({
      version,
      port,
      application: target,
    }) => `    - port: { number: ${port}, name: http-${version}, protocol: HTTP }
      bind: ${addresses.echo}
      captureMode: NONE
      defaultEndpoint: 127.0.0.1:${target}
`,
  )
  .join('')}`,
    '30-mtls.yaml': `# Clients without a certificate of the mesh get no answer.
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: default }
spec:
  mtls: { mode: STRICT }
`,
    '40-route.yaml': `# Change the weights, add a fault or a redirect, and save the file.
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: echo, namespace: default }
spec:
  hosts: [echo.mesh]
  gateways: [mesh, ${namespaces.client}/front]
  http:
    - route:
        - { destination: { host: echo.mesh, subset: v1 }, weight: 90 }
        - { destination: { host: echo.mesh, subset: v2 }, weight: 10 }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: default }
spec:
  host: echo.mesh
  subsets:
    - { name: v1, labels: { version: v1 } }
    - { name: v2, labels: { version: v2 } }
`,
  };
}
