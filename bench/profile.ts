import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { median } from './median.ts';
import { hammer } from './hammer.ts';
import { type Life, makeScene, type Scene } from './scene.ts';
import { merging, statusScene } from './status.ts';

interface Build {
  readonly buildProgram: (
    folder: string,
    options: { readonly sourcemap: 'external' },
  ) => Promise<unknown>;
  readonly writeCodeCache: (node: readonly string[], program: string) => Promise<void>;
}

/**
 * The output of `node --cpu-prof`:
 * https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile
 */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** In µs. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
}

/** Modules that take less time than this share one row. In ms. */
const least = 1;

/**
 * `bench profile [ROUNDS]`: where the time of a start goes, from exec to the start of Envoy's
 * process, by module: medians of self time, in ms.
 */
export async function profile(rounds = 9): Promise<Report> {
  const scene = await makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
  return profiled(scene, async (start) => {
    const lives: Times[] = [];
    for (let round = 0; round < rounds; round++) {
      const { profile: cpuProfile, origin } = await start();
      lives.push(selfTimes(cpuProfile, origin, 0, untilSpawn(cpuProfile)));
    }
    const where = [...new Set(lives.flatMap((life) => [...life.keys()]))];
    const times = new Map(
      where.map((key) => [key, median(lives.map((life) => life.get(key) ?? 0))]),
    );
    return {
      columns: ['Where', 'Self time, ms'],
      rows: rowsOf(times, least),
      notes: [
        `${node().name}; medians of ${rounds} starts, from the first line of Node to the start of Envoy's process. The profiler is on, which costs a third more time.`,
      ],
    };
  });
}

/**
 * `bench scrape [SECONDS]`: where the time of a scrape of merged metrics goes, of 1 MB, by module.
 */
export async function scrape(seconds = 8): Promise<Report> {
  const scene = await statusScene(1_000);
  return profiled(scene, async (start) => {
    let [begun, ended, number] = [0, 0, 0];
    const { profile: cpuProfile, origin } = await start(merging(scene), async (life) => {
      await life.ready();
      const ask = (duration: number) =>
        hammer({ port: scene.ports.status, path: '/stats/prometheus', connections: 1, duration });
      await ask(2_000);
      begun = performance.timeOrigin + performance.now() - life.started;
      const { perSecond } = await ask(seconds * 1_000);
      ended = performance.timeOrigin + performance.now() - life.started;
      number = perSecond * seconds;
    });
    const times = selfTimes(
      cpuProfile,
      origin,
      indexAt(cpuProfile, begun),
      indexAt(cpuProfile, ended),
    );
    const each = new Map(
      [...times]
        .filter(([where]) => !where.startsWith('idle'))
        .map(([where, ms]) => [where, ms / number]),
    );
    const idle = [...times].reduce(
      (sum, [where, ms]) => sum + (where.startsWith('idle') ? ms / number : 0),
      0,
    );
    return {
      columns: ['Where', 'Self time of a scrape, ms'],
      rows: [
        ...rowsOf(each, least / 5),
        ['Envoy, the application and the client are waited for', idle.toFixed(1)],
      ],
      notes: [
        `${node().name}; ${number.toFixed(0)} scrapes of 1 MB, one after the other, with the profiler on. Envoy and the client share the cores.`,
      ],
    };
  });
}

const node = () => runtimes().at(-1) ?? { name: '', path: process.execPath };

type Start = (
  more?: Parameters<Scene['start']>[1],
  use?: (life: Life) => Promise<void>,
) => Promise<{ readonly profile: CpuProfile; readonly origin: Origin }>;

/** Builds the bundle with a source map, and has `use` start it with the profiler on. */
async function profiled(scene: Scene, use: (start: Start) => Promise<Report>): Promise<Report> {
  const { name, path } = node();
  const { buildProgram, writeCodeCache } = (await import(
    resolve('scripts/build-program.mjs')
  )) as Build;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-profile-'));
  const program = join(folder, 'pilot-agent.cjs');
  try {
    await buildProgram(folder, { sourcemap: 'external' });
    await writeCodeCache([path], program);
    const origin = originOf(join(folder, 'main.cjs.map'));
    let number = 0;
    return await use(async (more, during = () => Promise.resolve()) => {
      const profiles = join(folder, `profiles-${number++}`);
      let cpuProfile: CpuProfile | undefined;
      const flags = ['--cpu-prof', '--cpu-prof-interval', '100', '--cpu-prof-dir', profiles];
      const watched = async (life: Life) => {
        await during(life);
        process.kill(life.pid, 'SIGTERM');
        cpuProfile = await written(profiles);
      };
      await scene.whileLive(
        { name, kind: 'own', command: [path, ...flags, program] },
        watched,
        more,
      );
      if (cpuProfile === undefined) throw new Error('there is no profile');
      return { profile: cpuProfile, origin };
    });
  } finally {
    scene.dispose();
    rmSync(folder, { recursive: true });
  }
}

/** A row for each place that takes at least `from` ms, one row for the others, and the sum. */
function rowsOf(times: Times, from: number): string[][] {
  const all = [...times].toSorted((a, b) => b[1] - a[1]);
  const sum = (some: typeof all) => some.reduce((total, [, ms]) => total + ms, 0).toFixed(1);
  const [large, small] = [all.filter(([, ms]) => ms >= from), all.filter(([, ms]) => ms < from)];
  return [
    ...large.map(([where, ms]) => [where, ms.toFixed(1)]),
    [`${small.length} others`, sum(small)],
    ['all of it', sum(all)],
  ];
}

/** Resolves to the profile that a process writes into a folder when it ends. */
async function written(folder: string): Promise<CpuProfile> {
  for (;;) {
    try {
      const name = readdirSync(folder).find((file) => file.endsWith('.cpuprofile'));
      if (name !== undefined)
        return JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    } catch {
      // The file is not there yet, or not complete.
    }
    await sleep(50);
  }
}

type Times = ReadonlyMap<string, number>;

/** The index of the sample at which Envoy's process is started. */
function untilSpawn({ nodes, samples }: CpuProfile): number {
  const spawns = new Set(
    nodes
      .filter(
        ({ callFrame: { functionName, url } }) =>
          functionName === 'spawn' && url === 'node:internal/child_process',
      )
      .map(({ id }) => id),
  );
  return samples.findIndex((id) => spawns.has(id));
}

/** The index of the first sample that is `ms` after the start. */
function indexAt({ timeDeltas }: CpuProfile, ms: number): number {
  let sum = 0;
  return timeDeltas.findIndex((delta) => (sum += delta / 1_000) >= ms);
}

/** The self time of each place between two samples, in ms. */
function selfTimes(
  { nodes, samples, timeDeltas }: CpuProfile,
  origin: Origin,
  from: number,
  to: number,
): Times {
  const places = new Map(nodes.map((node) => [node.id, placeOf(node, origin)]));
  const times = new Map<string, number>();
  for (let index = from; index < to; index += 1) {
    const place = places.get(samples[index] ?? 0) ?? '';
    times.set(place, (times.get(place) ?? 0) + (timeDeltas[index] ?? 0) / 1_000);
  }
  return times;
}

type Origin = (line: number, column: number) => string;

function originOf(file: string): Origin {
  const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  return (line, column) => {
    const entry = map.findEntry(line, column);
    const source = 'originalSource' in entry ? entry.originalSource : '';
    const module = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
    const sourceFolder = /src\/([^/]+)\//.exec(source)?.[1];
    return (
      module ?? (sourceFolder === undefined ? 'the rest of the bundle' : `src/${sourceFolder}`)
    );
  };
}

function placeOf(
  { callFrame: { functionName, url, lineNumber, columnNumber } }: ProfileNode,
  origin: Origin,
): string {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(idle)') return 'idle: threads and other processes are waited for';
  if (url === 'node:vm') return "V8's code cache, deserialized";
  if (url.startsWith('node:'))
    return `Node: ${/^node:(?:internal\/)?([a-z_]+)/.exec(url)?.[1] ?? ''}`;
  if (url.endsWith('main.cjs')) return origin(lineNumber, columnNumber);
  return url === '' ? 'native code of Node and V8' : 'launcher';
}
