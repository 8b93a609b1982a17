import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contenders.ts';
import { collected, type Report } from './figures.ts';
import { hammer } from './hammer.ts';
import { memoryOf } from './process-figures.ts';
import { makeScene, type Place, type Scene } from './scene.ts';

const [probe, scrape] = ['/healthz/ready', '/stats/prometheus'];
const connections = 8;
/** The time of a measurement, and of the warm-up before it. In ms. */
const duration = 4_000;
const warming = 1_500;
const settlingTime = 10_000; // V8 returns unused memory after some seconds

/**
 * `bench status [MINUTES]`: readiness probes and scrapes of merged metrics per second, by eight
 * clients at once and by one client, with 10 KB and with 1 MB of an application's metrics. Then the
 * memory of each agent after that many minutes of this load (default: half a minute).
 */
export async function status(minutes = 0.5): Promise<Report> {
  const { add, figures } = collected();
  let failed = 0;
  for (const families of [10, 1_000]) {
    const scene = await statusScene(families);
    try {
      for (const contender of scene.contenders)
        failed += await measure(scene, contender, families, minutes, add);
    } finally {
      scene.dispose();
    }
  }
  return {
    figures: figures(),
    notes: [
      `Each figure takes ${duration / 1_000} s. Clients ask again as soon as they get an answer. The same Envoy is also the application. Envoy and the client share the cores. ${failed} requests failed. Go 1.5 asks Envoy for each probe and merges nothing; Go 1.30 remembers that Envoy was ready once, and concatenates texts unread. Here scrapes that begin within 100 ms share an answer of up to 256 KiB; a single scraper shares with nobody.`,
      `Full load is ${minutes} minutes of probes and scrapes, in turns, by ${connections} clients. \`npm run bench -- status 60\` takes an hour for each agent.`,
    ],
  };
}

/** The scene of all requests: an application with `families` families of metrics, 1 KB each. */
export function statusScene(families: number): Promise<Scene> {
  return makeScene((place) => envoyConfig(place, families));
}

/** The environment in which an agent merges the metrics of the scene's application into its own. */
export function merging({ ports }: Place): { readonly env: NodeJS.ProcessEnv } {
  return {
    env: {
      ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({
        scrape: 'true',
        port: String(ports.listen),
        path: '/metrics',
      }),
    },
  };
}

/**
 * Sends requests for `minutes` with eight clients, and resolves to the number of failed requests.
 */
export async function fullLoad(
  { ports }: Place,
  minutes: number,
  paths: readonly string[] = [probe, scrape],
): Promise<number> {
  let failed = 0;
  for (const end = performance.now() + minutes * 60_000; performance.now() < end;)
    for (const path of paths)
      failed += (await hammer({ port: ports.status, path, connections, duration })).failed;
  return failed;
}

async function measure(
  scene: Scene,
  contender: Contender,
  families: number,
  minutes: number,
  add: ReturnType<typeof collected>['add'],
): Promise<number> {
  const { name, kind } = contender;
  const life = scene.start(contender, merging(scene));
  let failed = 0;
  const rate = async (path: string, clients: number) => {
    const ask = (time: number) =>
      hammer({ port: scene.ports.status, path, connections: clients, duration: time });
    const impacts = [await ask(warming), await ask(duration)];
    failed += impacts.reduce((sum, impact) => sum + impact.failed, 0);
    return impacts.at(-1)?.perSecond ?? 0;
  };
  try {
    await life.ready();
    if (families > 10) {
      if (kind !== 'go-1.5') add('scrape-large', name, await rate(scrape, 1));
      return failed;
    }
    await sleep(settlingTime);
    const idle = memoryOf(life.pid);
    add('probes', name, await rate(probe, connections));
    if (kind !== 'go-1.5') {
      add('scrape-alone', name, await rate(scrape, 1));
      add('scrape-shared', name, await rate(scrape, connections));
    }
    failed += await fullLoad(scene, minutes, kind === 'go-1.5' ? [probe] : [probe, scrape]);
    await sleep(settlingTime);
    const after = memoryOf(life.pid);
    add('loaded-own', name, after.anonymous);
    add('loaded-more', name, after.rss - idle.rss);
    return failed;
  } finally {
    await life.end();
  }
}

/**
 * Returns the configuration of an Envoy that is ready by the rules of each agent: it gets its
 * clusters and listeners from files. The application is a listener with 1 KB of metrics for each
 * family. Only a few of Envoy's own metrics are left.
 */
function envoyConfig({ folder, ports }: Place, families: number): Record<string, unknown> {
  const metrics = Array.from({ length: families }, (_, family) =>
    [
      `# TYPE app_requests_${family}_total counter`,
      ...Array.from(
        { length: 12 },
        (_, row) =>
          `app_requests_${family}_total{method="GET",path="/things/${row}/of/some/length",code="200"} ${row}`,
      ),
    ].join('\n'),
  ).join('\n');
  const address = (port: number) => ({
    socket_address: { address: '127.0.0.1', port_value: port },
  });
  const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  const listener = {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'app',
    address: address(ports.listen),
    filter_chains: [
      {
        filters: [
          {
            name: 'hcm',
            typed_config: {
              '@type': type('network.http_connection_manager.v3.HttpConnectionManager'),
              stat_prefix: 'app',
              route_config: {
                max_direct_response_body_size_bytes: 2 << 20,
                virtual_hosts: [
                  {
                    name: 'all',
                    domains: ['*'],
                    routes: [
                      {
                        match: { prefix: '/' },
                        direct_response: { status: 200, body: { inline_string: `${metrics}\n` } },
                      },
                    ],
                  },
                ],
              },
              http_filters: [
                { name: 'router', typed_config: { '@type': type('http.router.v3.Router') } },
              ],
            },
          },
        ],
      },
    ],
  };
  const [cds, lds] = ['cds', 'lds'].map((name) => join(folder, `${name}.json`));
  writeFileSync(cds ?? '', JSON.stringify({ version_info: '1', resources: [] }));
  writeFileSync(lds ?? '', JSON.stringify({ version_info: '1', resources: [listener] }));
  const from = (path: string | undefined) => ({
    resource_api_version: 'V3',
    path_config_source: { path },
  });
  return {
    node: { id: 'id', cluster: 'cluster' },
    admin: { address: address(ports.admin) },
    dynamic_resources: { cds_config: from(cds), lds_config: from(lds) },
    stats_config: {
      stats_matcher: {
        inclusion_list: {
          patterns: [
            { prefix: 'cluster_manager' },
            { prefix: 'listener_manager' },
            { prefix: 'server' },
          ],
        },
      },
    },
  };
}
