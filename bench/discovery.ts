import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { execa } from 'execa';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from '../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../src/pilot-discovery/push/view.ts';
import { ask } from '../test/support/ask.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { acceptingClient, deltaClient } from '../test/support/proxy-client.ts';
import type { Contender } from './control-planes.ts';
import { over, requireFleet, type Running, startOurs, until } from './discovery/control-plane.ts';
import { measured } from './discovery/measured.ts';
import { goals, kinds, nameOf, plain, type Scene, scenes, variants } from './discovery/scenes.ts';
import type { Report } from './figures.ts';
import { type FleetFigures, fleetProgram } from './fleet.ts';
import { memoryOf } from './process-figures.ts';
import { columnsBesideIstiod, ratioText, rowBesideIstiod } from './row-beside-istiod.ts';

/**
 * `bench discovery [ROUNDS]`: pilot-discovery and a real istiod, one after the other, under a fleet
 * of clients that ask and answer as Envoy does. It measures the time from a change of a file until
 * the last client has it.
 */
export async function discovery(rounds = 3): Promise<Report> {
  requireFleet();
  const results: Result[] = [];
  for (const scene of scenes)
    results.push({
      scene,
      ours: await measured('ours', scene, rounds),
      istiod: await measured('istiod', scene, rounds),
    });
  const rows = results.flatMap(rowsOf);
  rows.push(...growthRows(results), await reconnectRow(1_000), await restRow(1_000));
  rows.push(await growthRow(100));
  for (const count of [100, 10_000]) rows.push(await startRow(count));
  return {
    columns: columnsBesideIstiod,
    rows,
    notes: [
      `A change has three figures: the time from the change of a file until the last proxy has it, the CPU time of the control plane, and its bytes to the proxies. Medians of ${rounds} rounds. ` +
        'All proxies are in one namespace if a row names no other number. istiod runs without its limit of requests. After a change of a file it waits 100 ms for further changes, and 100 ms more in its window.',
      lossesOf(results),
      'Both programs send one answer per proxy for each change of an endpoint, and the cost of JavaScript per answer shows if there is little other work. ' +
        'Each Sidecar makes a scope of its own, and the changed host is in all of them: so the work for a change is done for each scope. ' +
        'In the state-of-the-world variant (`whole`) a change of a subset is two answers with all clusters: new clusters come first, and old clusters go later.',
      'A slow reader asks for all clusters and takes one answer in 5 s. In a storm 500 proxies of 100 namespaces connect at once, are killed after 5 s, and connect again.',
    ],
  };
}

/** The figures of both control planes in one scene. */
interface Result {
  readonly scene: Scene;
  readonly ours: FleetFigures;
  readonly istiod: FleetFigures;
}

/** The rows in which istiod needs less time or less CPU time for a change, as Markdown. */
function lossesOf(results: readonly Result[]): string {
  const losses = results.flatMap(({ scene, ours, istiod }) =>
    (['rds', 'cds', 'eds'] as const).flatMap((kind) => {
      const [ourChange, istiodChange] = [ours.changes[kind], istiod.changes[kind]];
      const lost = [
        ourChange.last > istiodChange.last ? 'time' : '',
        ourChange.cpu > istiodChange.cpu ? 'CPU' : '',
      ].filter((word) => word !== '');
      return lost.length === 0 ? [] : [`${nameOf(scene)}: ${kinds[kind]} (${lost.join(' and ')})`];
    }),
  );
  return losses.length === 0
    ? 'istiod is ahead in no change.'
    : ['istiod needs less in these rows:', '', ...losses.map((loss) => `- ${loss}`)].join('\n');
}

/**
 * The CPU time of an endpoint change, divided by that with a tenth of the services or namespaces.
 */
function growthRows(results: readonly Result[]): string[][] {
  const cpuOf = (scene: Scene, who: Contender) =>
    results.find((result) => nameOf(result.scene) === nameOf(scene))?.[who].changes.eds.cpu ?? NaN;
  return variants.flatMap((variant) => {
    const variantScene = { ...plain, variant };
    const pairs = [
      [
        'CPU of an endpoint: 1000 services ÷ 100 services',
        variantScene,
        { ...variantScene, services: 100 },
      ],
      [
        'CPU of an endpoint: 10 namespaces ÷ 1 namespace',
        { ...variantScene, namespaces: 10 },
        variantScene,
      ],
      [
        'CPU of an endpoint: 100 namespaces ÷ 10 namespaces',
        { ...variantScene, namespaces: 100 },
        { ...variantScene, namespaces: 10 },
      ],
    ] as const;
    return pairs.map(([what, large, small]) => {
      const [ours, istiod] = (['ours', 'istiod'] as const).map(
        (who) => cpuOf(large, who) / cpuOf(small, who),
      );
      return [
        nameOf(large),
        what,
        (ours ?? NaN).toFixed(2),
        (istiod ?? NaN).toFixed(2),
        '–',
        `≤ 1.2${(ours ?? NaN) <= 1.2 ? '' : ' (missed)'}`,
      ];
    });
  });
}

function rowsOf({ scene: measuredScene, ours: ourRun, istiod: istiodRun }: Result): string[][] {
  const scene = nameOf(measuredScene);
  const row = (
    what: string,
    key: string,
    units: readonly string[],
    ours: readonly number[],
    istiod: readonly number[],
  ): string[] =>
    rowBesideIstiod({ scene, what, units, ours, istiod, goals: goals[`${scene}: ${key}`] ?? [] });
  const values = ({ last, cpu, bytes }: FleetFigures['changes']['rds']) => [last, cpu, bytes];
  return [
    row('all connect', 'connect', ['ms'], [ourRun.connect], [istiodRun.connect]),
    ...(['rds', 'cds', 'eds'] as const).map((kind) =>
      row(
        kinds[kind],
        kind,
        ['ms', 'ms CPU', 'MB'],
        values(ourRun.changes[kind]),
        values(istiodRun.changes[kind]),
      ),
    ),
    row('memory at most', 'peak', ['MB'], [ourRun.peak], [istiodRun.peak]),
  ];
}

/**
 * The bytes of clusters and endpoints that a proxy receives if it has all of them and reconnects.
 */
async function reconnectRow(services: number): Promise<string[]> {
  const [ours, istiod] = [
    await over('ours', { services }, reconnect),
    await over('istiod', { services }, reconnect),
  ];
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(3)} MB`;
  const ratio = ours / istiod;
  return [
    `${services} × 1, delta`,
    'a proxy connects again, bytes',
    megabytes(ours),
    megabytes(istiod),
    ratio.toFixed(3),
    `≤ 0.02${ratio <= 0.02 ? '' : ' (missed)'}`,
  ];
}

async function reconnect({ port }: Running): Promise<number> {
  const node = { id: 'sidecar~10.9.0.1~p0.ns0~ns0.svc.cluster.local' };
  const versions: Record<string, Record<string, string>> = {};
  let bytes = 0;
  for (const time of ['first', 'again']) {
    bytes = 0;
    const client = deltaClient(port);
    client.call.on('data', (answer: DeltaDiscoveryResponse) => {
      const { typeUrl, nonce, resources } = answer;
      bytes += toBinary(DeltaDiscoveryResponseSchema, answer).length;
      for (const { name, version } of resources) (versions[typeUrl] ??= {})[name] = version;
      client.call.write(create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: nonce }));
    });
    const askFor = async (typeUrl: string, names: readonly string[]) => {
      const initialResourceVersions = time === 'first' ? {} : (versions[typeUrl] ?? {});
      client.call.write(
        create(DeltaDiscoveryRequestSchema, {
          node,
          typeUrl,
          resourceNamesSubscribe: [...names],
          initialResourceVersions,
        }),
      );
      await sleep(5_000); // nothing shows that no answer will come, so it waits for a fixed time
    };
    await askFor(typeUrls.cluster, []);
    await askFor(
      typeUrls.endpoint,
      Object.keys(versions[typeUrls.cluster] ?? {}).filter((name) => name.startsWith('outbound|')),
    );
    client.close();
  }
  return bytes;
}

/** The control plane's own memory for each proxy that is connected and asks for nothing more. */
async function restRow(proxies: number): Promise<string[]> {
  const atRest = async ({ port, pid }: Running): Promise<number> => {
    const before = memoryOf(pid).anonymous;
    const args = ['-addr', `127.0.0.1:${port}`, '-n', String(proxies), '-settle', '1h'];
    const connected = execa(fleetProgram, args, { reject: false });
    // istiod admits all proxies within 45 s.
    await sleep(105_000);
    const after = memoryOf(pid).anonymous;
    connected.kill();
    await connected;
    return ((after - before) * 1_024) / proxies;
  };
  const ours = await over('ours', { services: 10 }, atRest);
  const istiod = await over('istiod', { services: 10 }, atRest);
  return [
    `10 × ${proxies}, whole`,
    'own memory for each connected proxy, a minute later',
    `${ours.toFixed(0)} KB`,
    `${istiod.toFixed(0)} KB`,
    ratioText(ours / istiod),
    `≤ 60 KB${ours <= 60 ? '' : ' (missed)'}`,
  ];
}

/** The memory after 1,000 changes, divided by that after 100 changes. */
async function growthRow(services: number): Promise<string[]> {
  const ratio = await over('ours', { services }, async ({ folder, port, pid }) => {
    const clients = Array.from({ length: 10 }, (_, number) =>
      acceptingClient(
        port,
        `sidecar~10.9.0.${number}~p${number}.ns0~ns0.svc.cluster.local`,
        typeUrls.cluster,
      ),
    );
    let early = NaN;
    for (let change = 1; change <= 1_000; change += 1) {
      for (const { answers } of clients) answers.length = 0;
      writeFileSync(
        join(folder, 'changing.yaml'),
        `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: changing, namespace: ns0 }
spec: { hosts: [changing-${change}.mesh], resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [{ address: 10.1.1.1 }] }
`,
      );
      await until(() => clients.every(({ answers }) => answers.length > 0), 5);
      if (change === 100) early = memoryOf(pid).rss;
    }
    for (const client of clients) client.close();
    return memoryOf(pid).rss / early;
  });
  return [
    `${services} × 10, delta`,
    'memory after 1,000 changes, divided by that after 100',
    ratio.toFixed(2),
    '–',
    '–',
    `≤ 1.1${ratio <= 1.1 ? '' : ' (missed)'}`,
  ];
}

/** The time from the start of the program until it is ready, with `count` resources. */
async function startRow(count: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-bench-'));
  const [port = 0] = await freePorts(3);
  await execa(fleetProgram, ['services', String(count), folder]);
  const begun = performance.now();
  const child = startOurs(folder, port);
  await until(async () => (await ask(port + 1, '/ready')).status === 200, 5);
  const took = performance.now() - begun;
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
  const goal = count === 10_000 ? `≤ 2000 ms${took <= 2_000 ? '' : ' (missed)'}` : '–';
  return [
    `${count} resources`,
    'start → ready',
    `${took.toFixed(0)} ms`,
    count > 100 ? 'never' : '–',
    '–',
    goal,
  ];
}
