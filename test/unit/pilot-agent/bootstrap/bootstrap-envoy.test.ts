import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseStats } from '../../../../src/proxy/admin-client.ts';
import type { BootstrapInputs } from '../../../../src/pilot-agent/bootstrap/bootstrap-inputs.ts';
import { bootstrap } from '../../../../src/pilot-agent/bootstrap/envoy-bootstrap.ts';
import { regexFlaw } from '../../../../src/shared/text/regex-flaw.ts';
import { wellFormed } from '../../../../src/pilot-agent/bootstrap/proto-json.ts';
import { activeFilter, activeRequests } from '../../../../src/proxy/admin-questions.ts';
import { readiness, readinessFilter } from '../../../../src/pilot-agent/status/probe/readiness.ts';
import { arbitraryInputs, expression } from '../../../golden/arbitrary-inputs.ts';
import { inputsOf } from '../../../golden/cases.ts';
import { trialEnvoy, type TrialEnvoy } from '../../../golden/envoy.ts';
import { freePorts } from '../../../support/free-ports.ts';

/**
 * The number of cases. `BOOTSTRAP_RUNS` and `BOOTSTRAP_SEED` test more cases than the suite does.
 */
const numRuns = Number(process.env['BOOTSTRAP_RUNS'] ?? 20);
const seed = Number(process.env['BOOTSTRAP_SEED'] ?? 1);

let envoy: TrialEnvoy;
beforeAll(async () => {
  envoy = await trialEnvoy();
});
afterAll(() => envoy.dispose());

/** Returns a listener of Envoy for HTTP or TCP that passes all traffic on to `upstream`. */
function listenerOf(kind: 'http' | 'tcp', port: number) {
  const http = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'inbound',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'upstream' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'router',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
        },
      },
    ],
  };
  const tcp = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
    stat_prefix: 'tcp',
    cluster: 'upstream',
  };
  return {
    name: kind,
    address: loopback(port),
    filter_chains: [{ filters: [{ name: kind, typed_config: kind === 'http' ? http : tcp }] }],
  };
}

const loopback = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

async function read(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

describe('Envoy', () => {
  it(
    'takes each bootstrap that is made, whatever its inputs',
    { timeout: 180_000 + numRuns * 1_000 },
    async () => {
      let bootstrapCount = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryInputs, arbitraryInputs, async (...pair) => {
          await Promise.all(
            pair.map(async (inputs) => {
              const result = bootstrap(inputs);
              if (!result.ok) return;
              bootstrapCount++;
              const { accepted, output } = await envoy.validate(JSON.stringify(result.bootstrap));
              expect(accepted, output).toBe(true);
              // A validation does not check the statistics; only a start does.
              const { node, stats_config } = result.bootstrap;
              const started = await envoy.start(JSON.stringify({ node, stats_config }));
              await started.end();
              expect(started.accepted, started.output).toBe(true);
            }),
          );
        }),
        { numRuns, seed },
      );
      expect(bootstrapCount).toBeGreaterThan(numRuns);
    },
  );

  it('has the statistics that readiness and the drain look at, and none that nobody asked for', async () => {
    const [admin = 0, status = 0, prometheus = 0, health = 0, http = 0, tcp = 0] =
      await freePorts(6);
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const statusPort = createHttpServer(
      (request, response) => void response.writeHead(200).end(request.url),
    ).listen(status, '127.0.0.1');
    const inputs = inputsOf({
      config: { proxyAdminPort: admin, statusPort: status },
      inputs: { prometheusPort: prometheus, healthPort: health },
    });
    const result = bootstrap({ ...inputs, outlierLogPath: '' });
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    // The listeners would wait for the control plane, which does not exist here.
    const { listeners, clusters } = result.bootstrap['static_resources'] as Readonly<
      Record<string, readonly object[]>
    >;
    const address = loopback((silent.address() as AddressInfo).port);
    const upstream = {
      name: 'upstream',
      connect_timeout: '1s',
      load_assignment: {
        cluster_name: 'upstream',
        endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
      },
    };
    const static_resources = {
      listeners: [...(listeners ?? []), listenerOf('http', http), listenerOf('tcp', tcp)],
      clusters: [...(clusters ?? []), upstream],
    };
    const started = await envoy.start(
      JSON.stringify({ ...result.bootstrap, static_resources, dynamic_resources: undefined }),
    );
    const sockets: Socket[] = [];
    try {
      expect(started.accepted, started.output).toBe(true);
      const filtered = async (filter: string) =>
        (await read(admin, `/stats?filter=${encodeURIComponent(filter)}`)).body;
      await expect.poll(async () => readiness(await filtered(readinessFilter))).toBeUndefined();
      sockets.push(...[http, tcp].map((port) => connect(port, '127.0.0.1')));
      // An idle HTTP connection is not active; an idle TCP connection is.
      await expect
        .poll(async () => activeRequests(parseStats(await filtered(activeFilter))))
        .toBe(1);
      sockets[0]?.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      await expect
        .poll(async () => activeRequests(parseStats(await filtered(activeFilter))))
        .toBe(2);

      expect(await read(health, '/healthz/ready')).toEqual({ status: 200, body: '/healthz/ready' });
      expect((await read(health, '/quitquitquit')).status).toBe(404);
      expect((await read(prometheus, '/stats/prometheus')).body).toContain('envoy_server_state');
      expect((await read(prometheus, '/quitquitquit')).status).toBe(404);

      const names = (await read(admin, '/stats')).body
        .split('\n')
        .flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
      const wanted =
        /^(server|listener_manager|cluster_manager|cluster\.xds-grpc|overload)\.|\.downstream_(rq_active|cx_active|cx_upgrades_active)$/;
      const others = names.filter(
        (name) =>
          !wanted.test(name) &&
          !/^listener\..+\.http\..+\.downstream_rq_(completed|5xx)$/.test(name),
      );
      expect(others).toEqual([]);
    } finally {
      for (const socket of sockets) socket.destroy();
      await started.end();
      silent.close();
      statusPort.close();
    }
  });

  /** Starts an Envoy from a bootstrap of its own, with a listener that answers. */
  async function started(given: Partial<BootstrapInputs>, env: NodeJS.ProcessEnv = {}) {
    const [admin = 0, prometheus = 0] = await freePorts(2);
    const inputs = inputsOf({
      config: { proxyAdminPort: admin, statusPort: 0 },
      metadata: { env },
      inputs: { prometheusPort: prometheus, healthPort: 0, ...given },
    });
    const result = bootstrap({ ...inputs, outlierLogPath: '' });
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    const process = await envoy.start(
      JSON.stringify({ ...result.bootstrap, dynamic_resources: undefined }),
    );
    const stat = async (name: string) =>
      Number((await read(admin, `/stats?filter=^${name}$`)).body.split(': ')[1]);
    return { ...process, prometheus, stat, warnings: result.warnings };
  }
  const action = (name: string) => `overload.envoy.overload_actions.${name}.active`;

  it('says nothing of a limit of connections that is missing, and has none', async () => {
    const running = await started({});
    await running.end();
    expect(running.accepted, running.output).toBe(true);
    expect(running.output).not.toMatch(/limit/);
  });

  it.each([
    {
      what: 'gives memory back and keeps no connection near the limit of memory, and still answers',
      left: 1,
      active: 1,
    },
    { what: 'does neither of it far from the limit of memory', left: 400, active: 0 },
  ])('$what', async ({ left, active }) => {
    const running = await started({ memoryLimit: (110 + left) * (1 << 20) });
    try {
      expect(running.accepted, running.output).toBe(true);
      await expect
        .poll(() => running.stat('overload.envoy.resource_monitors.fixed_heap.pressure'))
        .toBeGreaterThan(0);
      for (const name of ['shrink_heap', 'disable_http_keepalive'])
        await expect.poll(() => running.stat(action(name))).toBe(active);
      const { status } = await read(running.prometheus, '/stats/prometheus');
      expect(status).toBe(200);
    } finally {
      await running.end();
    }
  });

  it('counts no connection of a probe or of the agent against the limit of connections', async () => {
    const running = await started({}, { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: '1' });
    const sockets: Socket[] = [];
    const status = () =>
      read(running.prometheus, '/stats/prometheus').then(
        (answer) => answer.status,
        () => 0,
      );
    try {
      expect(running.warnings).toEqual([]);
      await expect.poll(status).toBe(200); // the listener comes after the admin endpoint
      sockets.push(...[1, 2, 3].map(() => connect(running.prometheus, '127.0.0.1')));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      expect(await status()).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await running.end();
    }
  });

  it('takes each expression that is not refused', async () => {
    const expressions = fc
      .sample(expression, { numRuns: numRuns * 100, seed })
      .filter((text) => regexFlaw(text) === undefined);
    const patterns = wellFormed(expressions).map((regex) => ({ safe_regex: { regex } }));
    const started = await envoy.start(
      JSON.stringify({ stats_config: { stats_matcher: { inclusion_list: { patterns } } } }),
    );
    await started.end();
    expect(started.accepted, started.output).toBe(true);
    expect(expressions.length).toBeGreaterThan(numRuns * 20);
  });
});
