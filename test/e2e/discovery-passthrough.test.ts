import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import { meshAgent } from '../../demo/mesh-agent.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { program } from '../support/e2e/program.ts';
import { type Running, startRunning } from '../support/e2e/running.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

/** The addresses at which the client's network reaches the gateway of the other one. */
const gateways = ['127.0.0.30', '127.0.0.31'];
const versions = ['v1', 'v2'];

const metadata = (name: string, namespace: string) =>
  `metadata: { name: ${name}, namespace: ${namespace} }`;
const subsets = versions
  .map((version) => `{ name: ${version}, labels: { version: ${version} } }`)
  .join();

/**
 * Returns the service as the network `near` knows it: in `far`, at an address that does not answer.
 */
const near = (port: number): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
${metadata('echo', 'shop')}
spec:
  hosts: [echo.mesh]
  exportTo: ['.']
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  subjectAltNames: [spiffe://cluster.local/ns/default/sa/echo]
  endpoints:
${versions
  .map(
    (version) =>
      `    - { address: 192.0.2.1, network: far, labels: { version: ${version}, security.istio.io/tlsMode: istio } }`,
  )
  .join('\n')}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
${metadata('echo', 'shop')}
spec: { host: echo.mesh, subsets: [${subsets}] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
${metadata('echo', 'shop')}
spec:
  hosts: [echo.mesh]
  exportTo: ['.']
  http:
${versions
  .map(
    (version) =>
      `    - { match: [{ uri: { prefix: /${version} } }], route: [{ destination: { host: echo.mesh, subset: ${version} } }] }`,
  )
  .join('\n')}
    - { route: [{ destination: { host: echo.mesh } }] }
`;

/** Returns the networks of the mesh, with the gateways through which clients reach `far`. */
const meshNetworks = (port: number): string => `
networks:
  far: { gateways: [${gateways.map((address) => `{ address: ${address}, port: ${port} }`).join()}] }
`;

/** Returns the gateway of `far`, and a workload there that does not take part in the mesh. */
const far = (passed: number, hosts: string, plain: number): string => `
apiVersion: networking.istio.io/v1
kind: Gateway
${metadata('cross-network', 'gate')}
spec:
  selector: { istio: crossing }
  servers:
    - { port: { number: ${passed}, name: tls, protocol: TLS }, hosts: [${hosts}], tls: { mode: AUTO_PASSTHROUGH } }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
${metadata('plain', 'gate')}
spec:
  hosts: [plain.mesh]
  exportTo: ['.']
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${plain} } }]
`;

describe('two networks, and a gateway that passes mutual TLS on by its server name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-passthrough-'));
  let rig: TwoSidecarsRig;
  let router: Running;
  let [passed = 0, admin = 0, status = 0, prometheus = 0, health = 0]: readonly number[] = [];

  beforeAll(async () => {
    rig = await twoSidecarsRig();
    [passed = 0, admin = 0, status = 0, prometheus = 0, health = 0] = await freePorts(5);
    rig.write('10-echo.yaml', rig.read('10-echo.yaml').replace('[shop]', '[gate]'));
    rig.write('50-near.yaml', near(rig.ports.service));
    rig.write('60-far.yaml', far(passed, "'*.mesh'", rig.ports.inbound[0]));
    const networks = join(folder, 'networks.yaml');
    writeFileSync(networks, meshNetworks(passed));
    rig.startDiscovery(['--networksConfig', networks]);
    rig.startAgents('delta', { ISTIO_META_NETWORK: 'near' });
    const agent = await meshAgent(folder, rig.ports.xds, await certificateAuthority('another'), {
      role: 'router',
      name: 'crossing',
      namespace: 'gate',
      address: '127.0.0.30',
      labels: { istio: 'crossing' },
      ports: { admin, status, prometheus, health },
      env: { ISTIO_META_NETWORK: 'far' },
    });
    router = startRunning(program, agent);
    await eventually(async () => (await rig.ask('/v1')).status === 200);
  });
  afterAll(async () => {
    await Promise.all([router.end('SIGTERM'), rig.dispose()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const bodies = async (path: string) =>
    new Set(
      (await Promise.all(Array.from({ length: 10 }, () => rig.ask(path)))).map(({ body }) => body),
    );
  /** Resolves to the clusters of the gateway that have had a connection. */
  const used = async () =>
    [
      ...(await ask(admin, '/clusters')).body.matchAll(
        /^(outbound_\.\S*?)::\S*::cx_total::[1-9]/gm,
      ),
    ].map(([, name]) => name);

  /** Whether a client of TLS reaches a server that sends a certificate. */
  const shakesHands = (servername: string, alpn: readonly string[]) =>
    new Promise<boolean>((done) => {
      const socket: TLSSocket = connect({
        port: passed,
        host: gateways[0],
        servername,
        ALPNProtocols: [...alpn],
        rejectUnauthorized: false,
      });
      const isShown = () => done(Object.keys(socket.getPeerCertificate()).length > 0);
      socket.on('secureConnect', isShown).on('error', () => done(false));
      socket.on('end', () => done(false));
    });
  const named = (host: string, port = rig.ports.service, subset = '') =>
    `outbound_.${port}_.${subset}_.${host}`;

  it('leads each subset to its own endpoints, whatever certificate the gateway has', async () => {
    expect(await bodies('/v1')).toEqual(new Set(['v1\n']));
    expect(await bodies('/v2')).toEqual(new Set(['v2\n']));
    expect(await bodies('/')).toEqual(new Set(['v1\n', 'v2\n']));
    expect(await used()).toEqual(
      expect.arrayContaining(
        ['', ...versions].map((subset) => named('echo.mesh', undefined, subset)),
      ),
    );
  });

  it('passes on only clients of the mesh, to names that it has', async () => {
    expect(await shakesHands(named('echo.mesh'), ['istio'])).toBe(true);
    expect(await shakesHands(named('echo.mesh'), ['istio-h2'])).toBe(true);
    expect(await shakesHands(named('echo.mesh'), ['h2'])).toBe(false);
    expect(await shakesHands('echo.mesh', ['istio'])).toBe(false);
    expect(await shakesHands(named('echo.mesh', 1), ['istio'])).toBe(false);
    expect(await shakesHands(named('echo.mesh', undefined, 'v3'), ['istio'])).toBe(false);
  });

  it('reaches no endpoint that does not support mutual TLS', async () => {
    expect(await shakesHands(named('plain.mesh', 80), ['istio'])).toBe(false);
    const { body } = await ask(admin, '/clusters?filter=plain');
    expect(body).toContain('outbound_.80_._.plain.mesh::');
    expect(body).not.toContain('::127.0.0.1:');
  });

  it('ends with the hosts of the Gateway, and begins again', async () => {
    rig.write('60-far.yaml', far(passed, 'other.mesh', rig.ports.inbound[0]));
    await expect.poll(() => shakesHands(named('echo.mesh'), ['istio'])).toBe(false);
    rig.write('60-far.yaml', far(passed, 'echo.mesh', rig.ports.inbound[0]));
    await expect.poll(async () => (await rig.ask('/v2')).body).toBe('v2\n');
    expect(await shakesHands(named('plain.mesh', 80), ['istio'])).toBe(false);
  });
});
