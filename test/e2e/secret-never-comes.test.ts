import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { realEnvoy } from '../support/e2e/bad-input-program.ts';

const entry = (name: string, port: number) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1 }]
`;
const rule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a, namespace: default }
spec: { host: a.mesh, trafficPolicy: { tls: { mode: SIMPLE, caCertificates: /nowhere/root.pem } } }
`;

const http2 = {
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    explicit_http_config: { http2_protocol_options: {} },
  },
};
const cluster = (name: string, address: object) => ({
  name,
  type: 'STATIC',
  typed_extension_protocol_options: http2,
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
  },
});
const addressOf = (port: number) => ({
  socket_address: { address: '127.0.0.1', port_value: port },
});

/** Returns the bootstrap of an Envoy without an agent: no server answers for secrets. */
const bootstrap = (type: string, admin: number, xds: number, nowhere: string) => ({
  node: {
    id: 'sidecar~127.0.0.1~app.default~default.svc.cluster.local',
    cluster: 'app',
    metadata: { INTERCEPTION_MODE: 'NONE' },
  },
  admin: { address: addressOf(admin) },
  dynamic_resources: {
    ads_config: {
      api_type: type,
      transport_api_version: 'V3',
      grpc_services: [{ envoy_grpc: { cluster_name: 'xds' } }],
    },
    cds_config: { ads: {}, resource_api_version: 'V3' },
    lds_config: { ads: {}, resource_api_version: 'V3' },
  },
  static_resources: {
    clusters: [cluster('xds', addressOf(xds)), cluster('sds-grpc', { pipe: { path: nowhere } })],
  },
});

it.each(['DELTA_GRPC', 'GRPC'])(
  'a certificate that never comes holds up no other service, over %s',
  async (type) => {
    const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
    const [xds = 0, http = 0, monitoring = 0, admin = 0, first = 0, second = 0] =
      await freePorts(6);
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, 'new'), text);
      renameSync(join(folder, 'new'), join(folder, name));
    };
    mkdirSync(join(folder, 'config'));
    write('config/a.yaml', entry('a', first));
    write(
      'bootstrap.json',
      JSON.stringify(bootstrap(type, admin, xds, join(folder, 'nowhere.sock'))),
    );
    const ports = Object.entries({
      grpcAddr: xds,
      httpAddr: http,
      monitoringAddr: monitoring,
    }).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]);
    const options = { buffer: false, reject: false, stdout: 'ignore', stderr: 'ignore' } as const;
    const args = [
      resolve('dist/pilot-discovery.cjs'),
      'discovery',
      '--configDir',
      join(folder, 'config'),
      ...ports,
    ];
    const running = [
      execa(process.execPath, args, options),
      execa(
        realEnvoy(),
        ['-c', join(folder, 'bootstrap.json'), '--disable-hot-restart', '--log-level', 'off'],
        options,
      ),
    ];
    const has = async (path: string, text: string) => (await ask(admin, path)).body.includes(text);
    try {
      await eventually(() => has('/listeners', String(first)));
      write('config/rule.yaml', rule);
      await eventually(() => has('/config_dump', 'file-root:/nowhere/root.pem'));
      const begun = performance.now();
      write('config/b.yaml', entry('b', second));
      await eventually(
        async () => (await has('/listeners', String(second))) && (await has('/clusters', 'b.mesh')),
      );
      expect(performance.now() - begun).toBeLessThan(4_000);
    } finally {
      for (const child of running) child.kill('SIGTERM');
      await Promise.all(running);
      rmSync(folder, { recursive: true });
    }
  },
);
