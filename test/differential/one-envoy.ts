import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeIstiod } from '../support/e2e/istiod.ts';
import { realEnvoy } from '../support/e2e/bad-input-program.ts';

/**
 * Starts a server that answers with its name and the request. `place` is a port, or the path of a
 * socket.
 */
export async function backend(name: string, place: number | string = 0): Promise<Server> {
  const server = createServer(({ method, url, headers }, response) => {
    const { 'x-request-id': id, 'x-forwarded-proto': proto, ...rest } = headers;
    response.setHeader('x-backend', name);
    response.end(
      JSON.stringify({ name, method, url, hasId: id !== undefined, proto, headers: rest }),
    );
  });
  await once(
    typeof place === 'string' ? server.listen(place) : server.listen(place, '127.0.0.1'),
    'listening',
  );
  return server;
}

/**
 * Runs a bare Envoy with the configuration of the control plane at a port, for as long as `work`
 * takes.
 */
export async function withEnvoy<T>(xds: number, admin: number, work: () => Promise<T>): Promise<T> {
  const address = (port: number) => ({
    socket_address: { address: '127.0.0.1', port_value: port },
  });
  const bootstrap = {
    node: {
      id: 'sidecar~127.0.0.1~app.default~default.svc.cluster.local',
      cluster: 'app',
      metadata: {
        NAMESPACE: 'default',
        INTERCEPTION_MODE: 'NONE',
        ISTIO_VERSION: '1.26.0',
        CLUSTER_ID: 'Kubernetes',
      },
    },
    admin: { address: address(admin) },
    dynamic_resources: {
      ads_config: {
        api_type: 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds' } }],
      },
      cds_config: { ads: {}, resource_api_version: 'V3' },
      lds_config: { ads: {}, resource_api_version: 'V3' },
    },
    static_resources: {
      clusters: [
        {
          name: 'xds',
          connect_timeout: '1s',
          load_assignment: {
            cluster_name: 'xds',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(xds) } }] }],
          },
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
      ],
    },
  };
  const args = [
    '--config-yaml',
    JSON.stringify(bootstrap),
    '--concurrency',
    '1',
    '--disable-hot-restart',
    '--log-level',
    'error',
  ];
  const child = spawn(realEnvoy(), args, { stdio: 'ignore' });
  try {
    return await work();
  } finally {
    const exit = once(child, 'exit');
    if (child.kill('SIGKILL')) await exit;
  }
}

/** Runs pilot-discovery over a folder with one file, `all.yaml`, for as long as `work` takes. */
export async function withPilotDiscovery<T>(
  yaml: string,
  ports: readonly number[],
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
  writeFileSync(join(folder, 'all.yaml'), yaml);
  const listen = ports.flatMap((port, index) => [
    `--${['grpcAddr', 'httpAddr', 'monitoringAddr'][index] ?? ''}`,
    `127.0.0.1:${port}`,
  ]);
  const args = [resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', folder, ...listen];
  const program = spawn(process.execPath, args, { stdio: 'ignore' });
  try {
    return await work(folder);
  } finally {
    const exit = once(program, 'exit');
    if (program.kill('SIGTERM')) await exit;
    rmSync(folder, { recursive: true });
  }
}

/** Runs a real istiod over a folder with one file, for as long as `work` takes. */
export async function withIstiod<T>(
  program: string,
  yaml: string,
  port: number,
  work: () => Promise<T>,
): Promise<T> {
  const istiod = makeIstiod(program, port);
  writeFileSync(join(istiod.folder, 'all.yaml'), yaml);
  try {
    await istiod.start();
    return await work();
  } finally {
    await istiod.dispose();
  }
}
