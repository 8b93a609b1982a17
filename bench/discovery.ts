import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { execa } from 'execa';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from '../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../src/pilot-discovery/push/view.ts';
import { acceptingClient, deltaClient } from '../test/support/proxy-client.ts';
import { connects } from '../test/support/connects.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { ask } from '../test/support/ask.ts';
import type { Report } from './figures.ts';
import { type FleetFigures, fleetProgram, runFleet } from './fleet.ts';
import { memoryOf } from './process-figures.ts';
import { columnsBesideIstiod, rowBesideIstiod } from './row-beside-istiod.ts';

const peers = resolve('../shared/peers');
const program = resolve('dist/pilot-discovery.cjs');

/** Services × proxies, the namespaces of these, the variant of xDS, and Sidecars. */
const scenes: readonly Scene[] = [
  ...[100, 1_000].flatMap((services) =>
    [10, 100, 1_000].flatMap((proxies) =>
      [true, false].map((delta) => ({ services, proxies, delta })),
    ),
  ),
  ...[10, 100].flatMap((namespaces) =>
    [true, false].map((delta) => ({ services: 1_000, proxies: 100, delta, namespaces })),
  ),
  { services: 1_000, proxies: 100, delta: false, sidecars: true },
];

interface Scene {
  readonly services: number;
  readonly proxies: number;
  readonly delta: boolean;
  /** Over how many the proxies are spread; 1 if left out. */
  readonly namespaces?: number;
  /** Whether each proxy has a Sidecar of its own. */
  readonly sidecars?: boolean;
}

const kinds = { rds: 'a VirtualService', cds: 'a subset', eds: 'an endpoint' } as const;

/** Goals of the design, as ratios to istiod: until the last has it, CPU, bytes. */
const goals: Readonly<Record<string, readonly number[]>> = {
  '1000 × 100, delta: connect': [0.4],
  '1000 × 100, delta: rds': [0.3, 0.25, 0.4],
  '1000 × 100, delta: cds': [0.3, 0.25, 0.01],
  '1000 × 100, delta: eds': [0.5, 0.25],
  '1000 × 100, whole: rds': [0.5],
  ...Object.fromEntries(
    ['delta', 'whole'].flatMap((variant) => {
      const scene = `1000 × 100, ${variant}, 100 namespaces`;
      return [
        [`${scene}: rds`, [0.4, 0.3]],
        [`${scene}: cds`, [0.5, 0.3]],
        [`${scene}: eds`, [0.4, 0.3]],
        [`${scene}: peak`, [0.5]],
      ];
    }),
  ),
  '1000 × 100, whole, 100 Sidecars: rds': [1.2],
  '100 × 1000, delta: peak': [0.3],
  '100 × 1000, whole: peak': [0.3],
  '1000 × 1000, delta: peak': [0.3],
  '1000 × 1000, whole: peak': [0.3],
};

/**
 * `bench discovery [ROUNDS]`: pilot-discovery and a real istiod, one after the other, under a fleet
 * of clients that ask and answer as Envoy does: from a change of a file to the last of them.
 */
export async function discovery(rounds = 3): Promise<Report> {
  if (!existsSync(fleetProgram))
    throw new Error(
      'bench discovery: there is no ../shared/peers beside this checkout, which it runs',
    );
  const results: Result[] = [];
  for (const scene of scenes)
    results.push({
      scene,
      ours: await measured('ours', scene, rounds),
      istiod: await measured('istiod', scene, rounds),
    });
  const rows = results.flatMap(rowsOf);
  rows.push(...growthRows(results), await reconnectRow(1_000), await growthRow(100));
  for (const count of [100, 10_000]) rows.push(await startRow(count));
  return {
    columns: columnsBesideIstiod,
    rows,
    notes: [
      `A change has three figures: the time from the change of a file until the last proxy has it, the CPU time of the control plane, and its bytes to the proxies. Medians of ${rounds} rounds. ` +
        'All proxies are in one namespace if a row names no other number. istiod runs without its limit of requests. It waits 100 ms for a file to rest, and 100 ms more in its window.',
      lossesOf(results),
      'Both programs send one answer per proxy for each change of an endpoint, and the cost of JavaScript per answer shows if there is little other work. ' +
        'With Sidecars each proxy has its own class, and the work for a changed endpoint is done for each class. In the state-of-the-world variant (`whole`) a change of ' +
        'a subset is two answers with all clusters: new clusters come first, and old clusters go later.',
      'All proxies are answered at once. So most of the memory with 1,000 proxies belongs to Node and gRPC, for connections and for answers that ' +
        'wait in sockets.',
    ],
  };
}

/** One scene, as both have it. */
interface Result {
  readonly scene: Scene;
  readonly ours: FleetFigures;
  readonly istiod: FleetFigures;
}

function nameOf({ services, proxies, delta, namespaces = 1, sidecars = false }: Scene): string {
  const parts = [`${services} × ${proxies}`, delta ? 'delta' : 'whole'];
  return [
    ...parts,
    ...(namespaces > 1 ? [`${namespaces} namespaces`] : []),
    ...(sidecars ? ['100 Sidecars'] : []),
  ].join(', ');
}

/** Where istiod needs less time or less CPU time for a change, in one sentence. */
function lossesOf(results: readonly Result[]): string {
  const losses = results.flatMap(({ scene, ours, istiod }) =>
    (['rds', 'cds', 'eds'] as const).flatMap((kind) => {
      const [one, other] = [ours.changes[kind], istiod.changes[kind]];
      const lost = [one.last > other.last ? 'time' : '', one.cpu > other.cpu ? 'CPU' : ''].filter(
        (word) => word !== '',
      );
      return lost.length === 0 ? [] : [`${nameOf(scene)}: ${kinds[kind]} (${lost.join(' and ')})`];
    }),
  );
  return losses.length === 0
    ? 'istiod is ahead in no change.'
    : `istiod is ahead in: ${losses.join('; ')}.`;
}

/** The CPU time of an endpoint, over that with a tenth of the services or namespaces. */
function growthRows(results: readonly Result[]): string[][] {
  const cpuOf = (scene: Scene, who: 'ours' | 'istiod') =>
    results.find((result) => nameOf(result.scene) === nameOf(scene))?.[who].changes.eds.cpu ?? NaN;
  return [true, false].flatMap((delta) => {
    const one = { services: 1_000, proxies: 100, delta };
    const pairs = [
      ['CPU of an endpoint: 1000 services, over 100', one, { ...one, services: 100 }],
      ['CPU of an endpoint: 10 namespaces, over 1', { ...one, namespaces: 10 }, one],
      [
        'CPU of an endpoint: 100 namespaces, over 10',
        { ...one, namespaces: 100 },
        { ...one, namespaces: 10 },
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

function rowsOf({ scene: measuredScene, ours: own, istiod: other }: Result): string[][] {
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
    row('all connect', 'connect', ['ms'], [own.connect], [other.connect]),
    ...(['rds', 'cds', 'eds'] as const).map((kind) =>
      row(
        kinds[kind],
        kind,
        ['ms', 'ms CPU', 'MB'],
        values(own.changes[kind]),
        values(other.changes[kind]),
      ),
    ),
    row('memory at most', 'peak', ['MB'], [own.peak], [other.peak]),
  ];
}

async function measured(
  who: 'ours' | 'istiod',
  { proxies, delta, namespaces = 1, ...scene }: Scene,
  rounds: number,
): Promise<FleetFigures> {
  return over(who, scene, (running) =>
    runFleet({ ...running, proxies, delta, namespaces, rounds, changes: ['eds', 'rds', 'cds'] }),
  );
}

/** A control plane that runs. */
interface Running {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
}

/** Starts a control plane over so many services, and ends it when `use` is over. */
async function over<T>(
  who: 'ours' | 'istiod',
  { services, sidecars = false }: Pick<Scene, 'services' | 'sidecars'>,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-bench-'));
  const fill = async () => {
    await execa(fleetProgram, ['services', String(services), folder]);
    if (sidecars) writeFileSync(join(folder, 'sidecars.yaml'), sidecarPerProxy());
  };
  const [port = 0] = await freePorts(3);
  let child: ChildProcess | undefined;
  try {
    if (who === 'ours') {
      await fill();
      child = startOurs(folder, port);
      await until(async () => (await ask(port + 1, '/ready')).status === 200);
    } else {
      // With more than a hundred resources at its start it would never answer.
      const env = { ...process.env, PILOT_MAX_REQUESTS_PER_SECOND: '0' };
      child = spawn(join(peers, 'istiod'), [folder, String(port)], { stdio: 'ignore', env });
      await until(() => connects(port));
      await fill();
      await sleep(4_000);
    }
    const pid = who === 'ours' ? (child.pid ?? 0) : await childOf(child.pid ?? 0);
    return await use({ folder, port, pid });
  } finally {
    child?.kill('SIGTERM');
    if (child?.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The fleet calls its proxies `p0`, `p1` and so on. */
function sidecarPerProxy(): string {
  return Array.from(
    { length: 100 },
    (_, number) => `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: p${number}, namespace: ns0 }
spec: { workloadSelector: { labels: { app: p${number} } }, outboundTrafficPolicy: { mode: ALLOW_ANY } }
`,
  ).join('---\n');
}

/** Bytes of clusters and endpoints for a proxy that comes back with all of them. */
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
      await sleep(5_000); // an answer that is not sent cannot be waited for
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

/** What the memory is after 1,000 changes, over what it is after 100 of them. */
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

function startOurs(folder: string, port: number): ChildProcess {
  const listen = ['grpcAddr', 'httpAddr', 'monitoringAddr'].flatMap((flag, index) => [
    `--${flag}`,
    `127.0.0.1:${port + index}`,
  ]);
  return spawn(process.execPath, [program, 'discovery', '--configDir', folder, ...listen], {
    stdio: 'ignore',
  });
}

/** From the start of the program until it is ready, over so many resources. */
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

async function childOf(pid: number): Promise<number> {
  let found = 0;
  await until(
    () =>
      (found = Number(
        readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0],
      )) > 0,
  );
  return found;
}

async function until(condition: () => boolean | Promise<boolean>, pause = 20): Promise<void> {
  while (!(await condition())) await sleep(pause);
}
