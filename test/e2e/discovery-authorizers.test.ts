import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';

/** An authorizer that allows the user `root`, and counts its requests. */
interface TestAuthorizer {
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly requestCount: () => number;
}

function overHttp(port: number): TestAuthorizer {
  const servers = new Set<Server>();
  const paths: string[] = [];
  return {
    requestCount: () => paths.length,
    async start() {
      const server = createServer(({ url = '', headers }, response) => {
        paths.push(url);
        response
          .writeHead(headers['x-user'] === 'root' ? 200 : 401, { 'x-said': 'authorizer' })
          .end();
      });
      servers.add(server);
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async stop() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
        servers.delete(server);
      }
      await Promise.resolve();
    },
  };
}

/** `CheckResponse` with `status.code` 0 (OK), and 7 (PERMISSION_DENIED). */
const [allowed, denied] = [Buffer.alloc(0), Buffer.from([0x0a, 2, 0x08, 7])];

/** Returns an authorizer over gRPC. A connection has no user, so `connections` decides on it. */
function overGrpc(port: number, connections: () => 'allowed' | 'denied'): TestAuthorizer {
  const servers = new Set<GrpcServer>();
  const requests: Buffer[] = [];
  const bytes = (buffer: Buffer) => buffer;
  return {
    requestCount: () => requests.length,
    async start() {
      const server = new GrpcServer();
      server.addService(
        {
          check: {
            path: '/envoy.service.auth.v3.Authorization/Check',
            requestStream: false,
            responseStream: false,
            requestSerialize: bytes,
            requestDeserialize: bytes,
            responseSerialize: bytes,
            responseDeserialize: bytes,
          },
        },
        {
          check: (
            { request }: { readonly request: Buffer },
            answer: (error: null, response: Buffer) => void,
          ) => {
            requests.push(request);
            const isOfHttp = request.includes('/admin');
            const isRight = isOfHttp ? request.includes('root') : connections() === 'allowed';
            answer(null, isRight ? allowed : denied);
          },
        },
      );
      servers.add(server);
      const bind = promisify(server.bindAsync.bind(server));
      await bind(`127.0.0.1:${port}`, ServerCredentials.createInsecure());
    },
    async stop() {
      for (const server of servers) server.forceShutdown();
      servers.clear();
      await Promise.resolve();
    },
  };
}

const policy = (provider: string, rules = '[{ to: [{ operation: { paths: ["/admin*"] } }] }]') => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: custom, namespace: default }
spec: { action: CUSTOM, provider: { name: ${provider} }, rules: ${rules} }
`;

describe('authorizers of two real sidecars', () => {
  let rig: TwoSidecarsRig;
  let folder: string;
  let http: TestAuthorizer;
  let grpc: TestAuthorizer;
  const connections: { now: 'allowed' | 'denied' } = { now: 'allowed' };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-authorizers-'));
    const [httpAt = 0, grpcAt = 0, httpPort = 0, grpcPort = 0] = await freePorts(4);
    http = overHttp(httpAt);
    grpc = overGrpc(grpcAt, () => connections.now);
    rig = await twoSidecarsRig();
    rig.write('30-mtls.yaml', rig.read('30-mtls.yaml').replace('STRICT', 'PERMISSIVE'));
    rig.write(
      '50-authorizer.yaml',
      `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: authorizer, namespace: default }
spec:
  hosts: [authorizer.mesh]
  location: MESH_EXTERNAL
  resolution: STATIC
  exportTo: [default]
  ports:
    - { number: ${httpPort}, targetPort: ${httpAt}, name: http, protocol: HTTP }
    - { number: ${grpcPort}, targetPort: ${grpcAt}, name: grpc, protocol: GRPC }
  endpoints: [{ address: 127.0.0.1 }]
`,
    );
    const [atHttp, atGrpc] = [httpPort, grpcPort].map(
      (port) => `service: authorizer.mesh, port: ${port}`,
    );
    const shown = 'includeRequestHeadersInCheck: [x-user], headersToDownstreamOnDeny: [x-said]';
    writeFileSync(
      join(folder, 'mesh.new'),
      `
extensionProviders:
  - name: http
    envoyExtAuthzHttp: { ${atHttp}, ${shown}, timeout: 5s, statusOnError: '503' }
  - name: http-open
    envoyExtAuthzHttp: { ${atHttp}, ${shown}, timeout: 5s, failOpen: true }
  - name: grpc
    envoyExtAuthzGrpc: { ${atGrpc}, timeout: 5s }
  - name: grpc-open
    envoyExtAuthzGrpc: { ${atGrpc}, timeout: 5s, failOpen: true }
`,
    );
    renameSync(join(folder, 'mesh.new'), join(folder, 'mesh'));
    await Promise.all([http.start(), grpc.start()]);
    rig.startDiscovery(['--meshConfig', join(folder, 'mesh')]);
    rig.startAgents();
    await eventually(async () => (await rig.askPlain()).status === 200);
  });
  afterAll(async () => {
    await Promise.all([http.stop(), grpc.stop()]);
    await rig.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Resolves to the statuses of a request without a rule, of a denied one, and of an allowed one.
   */
  async function answers(): Promise<readonly number[]> {
    const all = [
      rig.ask(),
      rig.ask('/admin/x', { 'x-user': 'guest' }),
      rig.ask('/admin/x', { 'x-user': 'root' }),
    ];
    return (await Promise.all(all)).map(({ status }) => status);
  }

  it.each([
    ['http', [200, 401, 200], [200, 503, 503]],
    ['http-open', [200, 401, 200], [200, 200, 200]],
    ['grpc', [200, 403, 200], [200, 403, 403]],
    ['grpc-open', [200, 403, 200], [200, 200, 200]],
  ])('%s decides on requests that meet a rule, and is away', async (name, right, away) => {
    const authorizer = name.startsWith('http') ? http : grpc;
    rig.write('60-custom.yaml', policy(name));
    await expect.poll(answers).toEqual(right);
    const before = authorizer.requestCount();
    expect(await rig.ask()).toMatchObject({ status: 200 });
    expect(authorizer.requestCount()).toBe(before);
    await authorizer.stop();
    await expect.poll(answers).toEqual(away);
    await authorizer.start();
    await expect.poll(answers).toEqual(right);
  });

  it('that the MeshConfig does not have refuses what it is for', async () => {
    rig.write('60-custom.yaml', policy('nobody'));
    await expect.poll(answers).toEqual([200, 403, 403]);
    const flaws = JSON.stringify(await rig.debug('flawz'));
    expect(flaws).toContain('the MeshConfig has no extensionProvider nobody that can be asked');
  });

  it('decides on connections by gRPC alone', async () => {
    const sidecar = rig.read('20-sidecar.yaml');
    rig.write('20-sidecar.yaml', sidecar.replaceAll('protocol: HTTP', 'protocol: TCP'));
    const statusIs = async (right: number) => {
      await expect.poll(async () => (await rig.askPlain()).status).toBe(right);
    };
    rig.write('60-custom.yaml', policy('grpc', '[{}]'));
    connections.now = 'denied';
    await statusIs(0);
    connections.now = 'allowed';
    await statusIs(200);
    await grpc.stop();
    await statusIs(0);
    rig.write('60-custom.yaml', policy('grpc-open', '[{}]'));
    await statusIs(200);
    rig.write('60-custom.yaml', policy('http', '[{}]'));
    await statusIs(0);
    rig.write('60-custom.yaml', policy('http', '[{ to: [{ operation: { ports: ["1"] } }] }]'));
    await statusIs(200);
  });
});
