import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { freePorts } from '../support/free-ports.ts';
import { resetInHandshake, startLoad } from '../support/load.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

const binary = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
  encoding: 'utf8',
}).trim();
/**
 * The kernel's setting: if it is 1, connections that wait at a closing listener go to its neighbour
 * on the port.
 */
const migration = '/proc/sys/net/ipv4/tcp_migrate_req';
const migrates = existsSync(migration) && readFileSync(migration, 'utf8').trim() === '1';
const patient = ['--drainDuration', '50s', '--parentShutdownDuration', '60s'];

const addressFile = () => join(rig.folder, 'run', 'envoy-admin-address');
const address = () => readFileSync(addressFile(), 'utf8');
const restartEpoch = async () =>
  (JSON.parse((await ask(address().split(':')[1], '/server_info')).body) as Info)
    .command_line_options.restart_epoch;

interface Info {
  readonly command_line_options: { readonly restart_epoch: number };
}

function ask(
  port: string | number | undefined,
  path: string,
): Promise<{ status: number; body: string }> {
  return new Promise((done, fail) => {
    get({ host: '127.0.0.1', port, path, agent: false, timeout: 2_000 }, (response) => {
      let body = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => (body += piece))
        .on('end', () => done({ status: response.statusCode ?? 0, body }));
    }).on('error', fail);
  });
}

/** Resolves when Envoy is ready and serves that certificate to all clients. */
async function serves(serial: string): Promise<void> {
  await expect.poll(async () => (await rig.ready()).status).toBe(200);
  const served = () =>
    Promise.all(Array.from({ length: 8 }, () => servedSerial(rig.ports.listen, rig.ca.rootCert)));
  await expect.poll(served).toEqual(Array.from({ length: 8 }, () => serial));
}

it.each([0, 10, 20, 30, 45, 60, 90, 150])(
  'a child that is killed %d ms after it was seen leaves nothing but the change it was for',
  async (age) => {
    rig = await makeRig();
    const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
    await agent.said('epoch.live', 0);
    const [parent] = rig.envoys();
    const issued = await rig.ca.issue();
    writeCertificates(rig.certDir, issued);
    const started = await agent.said('epoch.started', 1);
    const end = performance.now() + age;
    while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
    process.kill(Number(started['pid']), 'SIGKILL');
    await agent.said('epoch.failed', 1);
    await serves(issued.serial);
    await expect
      .poll(() => rig.envoys().length === 1 && !rig.envoys().includes(parent ?? 0))
      .toBe(true);
    expect(agent.log().filter(({ event }) => event === 'restart.scheduled')).toEqual([]);
  },
);

it('a parent that is killed while it drains does not take its child along: no request is lost that was accepted, and all follows to the new admin endpoint', async () => {
  rig = await makeRig();
  const agent = rig.start([...patient, '--minDelay', '0s']);
  await agent.said('epoch.live', 0);
  const [parent = 0] = rig.envoys();
  writeCertificates(rig.certDir, await rig.ca.issue());
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'new-connection',
    clients: 2,
  });
  await agent.said('epoch.live', 1);
  // After 50 more answers, the requests that the parent had in flight at the takeover are answered.
  const { ok: before } = load.counts;
  await expect.poll(() => load.counts.ok).toBeGreaterThan(before + 50);
  const configured = address();
  process.kill(parent, 'SIGKILL');
  await agent.said('epoch.live', 2);
  expect(await agent.said('epoch.ended', 1)).toHaveProperty('signal');
  expect(address()).not.toBe(configured);
  expect(await restartEpoch()).toBe(0);
  expect((await rig.ready()).status).toBe(200);

  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await agent.said('epoch.live', 3);
  expect(address()).toBe(configured);
  expect(await restartEpoch()).toBe(1);
  const { failed, errors, ok } = await load.stop();
  const reset = errors.get(resetInHandshake) ?? 0;
  expect(failed - reset, JSON.stringify([...errors])).toBe(0);
  expect(reset).toBeLessThanOrEqual(migrates ? 0 : 2);
  expect(ok).toBeGreaterThan(100);
  await serves(issued.serial);

  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(rig.envoys()).toEqual([]);
});

/** Replaces the Envoy binary with a program that reports another hot restart version. */
function replaceBinary(path: string): void {
  writeFileSync(
    `${path}.new`,
    `#!/bin/sh\nif [ "$1" = --hot-restart-version ]; then echo 99.1; else exec ${binary} "$@"; fi\n`,
  );
  chmodSync(`${path}.new`, 0o755);
  renameSync(`${path}.new`, path);
}

it('an Envoy binary of another hot restart version takes over side by side, and the metrics listener follows', async () => {
  const [metrics = 0] = await freePorts(1);
  rig = await makeRig();
  const config = JSON.parse(readFileSync(rig.config, 'utf8')) as {
    static_resources: { listeners: Record<string, unknown>[]; clusters: unknown[] };
  };
  config.static_resources.listeners.push(metricsListener(metrics));
  config.static_resources.clusters.push(adminCluster(rig.ports.admin));
  writeFileSync(rig.config, JSON.stringify(config));
  const program = join(rig.folder, 'envoy-in-use');
  symlinkSync(binary, program);
  const agent = rig.start(['--binaryPath', program, '--minDelay', '0s']);
  await agent.said('epoch.live', 0);
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'keep-alive',
    clients: 2,
  });
  replaceBinary(program);
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await agent.said('envoy.replaced');
  await agent.said('epoch.live', 1);
  await agent.said('epoch.ended', 0);
  expect(address()).not.toContain(`:${rig.ports.admin}`);
  expect((await ask(metrics, '/stats?filter=server.state')).body).toBe('server.state: 0\n');
  const { failed, errors } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  await serves(issued.serial);
});

it('if no two Envoys can listen, the old one is drained before the new one starts', async () => {
  rig = await makeRig({ reusePort: false });
  const program = join(rig.folder, 'envoy-in-use');
  copyFileSync(binary, program);
  const agent = rig.start(['--binaryPath', program, '--minDelay', '0s']);
  await agent.said('epoch.live', 0);
  replaceBinary(program);
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await agent.said('epoch.not_started', 1);
  await agent.said('epoch.handed_off', 0);
  await agent.said('epoch.live', 2);
  await serves(issued.serial);
});

it('an Envoy that waits for its configuration, and serves nobody, is replaced within seconds when something changes', async () => {
  rig = await makeRig();
  const good = readFileSync(rig.config, 'utf8');
  const { static_resources: resources, ...rest } = JSON.parse(good) as {
    static_resources: { clusters: unknown[] };
  };
  const waiting = {
    ...rest,
    node: { id: 'a', cluster: 'b' },
    static_resources: { ...resources, clusters: [adminCluster(1)] },
    dynamic_resources: dynamicClusters,
  };
  writeFileSync(rig.config, JSON.stringify(waiting));
  const agent = rig.start(['--minDelay', '0s', '--log_output_level', 'default:debug']);
  await expect
    .poll(async () => (await ask(rig.ports.admin, '/ready')).body)
    .toBe('PRE_INITIALIZING\n');
  writeFileSync(rig.config, good);
  // Without the replacement, the next epoch would wait 20 s for an Envoy that may still become
  // LIVE.
  await agent.said('epoch.live', 1);
  expect((await ask(rig.ports.admin, '/ready')).body).toBe('LIVE\n');
  await serves(rig.issued.serial);
  await expect.poll(() => rig.envoys()).toHaveLength(1);
});

/** Clusters from a control plane that cannot be reached. */
const dynamicClusters = {
  cds_config: {
    initial_fetch_timeout: '0s',
    resource_api_version: 'V3',
    api_config_source: {
      api_type: 'GRPC',
      transport_api_version: 'V3',
      grpc_services: [{ envoy_grpc: { cluster_name: 'admin' } }],
    },
  },
};

function adminCluster(port: number): unknown {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return {
    name: 'admin',
    type: 'STATIC',
    connect_timeout: '1s',

    load_assignment: {
      cluster_name: 'admin',
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}

function metricsListener(port: number): Record<string, unknown> {
  const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  const manager = {
    '@type': type('network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'stats',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'admin' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': type('http.router.v3.Router') },
      },
    ],
  };
  return {
    name: 'stats',
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
    filter_chains: [
      {
        filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
      },
    ],
  };
}
