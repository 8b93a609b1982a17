import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { median } from './median.ts';
import { makeScene } from './scene.ts';

interface Build {
  readonly buildProgram: (folder: string, options: { readonly sourcemap: 'external' }) => Promise<unknown>;
  readonly writeCodeCache: (node: readonly string[], program: string) => Promise<void>;
}

/**
 * What `node --cpu-prof` writes:
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
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number; readonly columnNumber: number };
}

/** What takes less is one row. In ms. */
const least = 1;

/**
 * `bench profile [ROUNDS]`: where the time of a start goes, from exec to the start of Envoy's
 * process, by module: medians of self time, in ms.
 */
export async function profile(rounds = 9): Promise<Report> {
  const { name, path } = runtimes().at(-1) ?? { name: '', path: process.execPath };
  const { buildProgram, writeCodeCache } = (await import(resolve('scripts/build-program.mjs'))) as Build;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-profile-'));
  const program = join(folder, 'pilot-agent.cjs');
  const scene = await makeScene(({ ports, certDir }) => envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }));
  try {
    await buildProgram(folder, { sourcemap: 'external' });
    await writeCodeCache([path], program);
    const origin = originOf(join(folder, 'main.cjs.map'));
    const lives: ReadonlyMap<string, number>[] = [];
    for (let round = 0; round < rounds; round++) {
      const profiles = join(folder, `profiles-${round}`);
      const flags = ['--cpu-prof', '--cpu-prof-interval', '100', '--cpu-prof-dir', profiles];
      await scene.whileLive({ name, kind: 'own', command: [path, ...flags, program] }, async ({ pid }) => {
        process.kill(pid, 'SIGTERM');
        lives.push(selfTimes(await written(profiles), origin));
      });
    }
    const where = [...new Set(lives.flatMap((life) => [...life.keys()]))];
    const all = where.map((key) => [key, median(lives.map((life) => life.get(key) ?? 0))] as const).toSorted((a, b) => b[1] - a[1]);
    const few = all.filter(([, ms]) => ms < least).reduce((sum, [, ms]) => sum + ms, 0);
    const rows = [...all.filter(([, ms]) => ms >= least), [`${all.filter(([, ms]) => ms < least).length} others`, few] as const];
    return {
      columns: ['Where', 'Self time, ms'],
      rows: [...rows.map(([key, ms]) => [key, ms.toFixed(1)]), ['all of it', all.reduce((sum, [, ms]) => sum + ms, 0).toFixed(1)]],
      notes: [
        `${name}; medians of ${rounds} starts, from the first line of Node to the start of Envoy's process, with the profiler on, which costs a third on top.`,
      ],
    };
  } finally {
    scene.dispose();
    rmSync(folder, { recursive: true });
  }
}

/** Resolves to the profile that is written there when the process ends. */
async function written(folder: string): Promise<CpuProfile> {
  for (;;) {
    try {
      const name = readdirSync(folder).find((file) => file.endsWith('.cpuprofile'));
      if (name !== undefined) return JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    } catch {
      // It is not there, or not whole.
    }
    await sleep(50);
  }
}

/** Of each place, until Envoy's process is started. */
function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, origin: Origin): ReadonlyMap<string, number> {
  const places = new Map(nodes.map((node) => [node.id, placeOf(node, origin)]));
  const spawns = new Set(nodes.filter(({ callFrame: { functionName, url } }) => functionName === 'spawn' && url === 'node:internal/child_process').map(({ id }) => id)); // prettier-ignore
  const first = samples.findIndex((id) => spawns.has(id));
  const times = new Map<string, number>();
  for (const [index, id] of samples.slice(0, first).entries()) {
    const place = places.get(id) ?? '';
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
    const own = /src\/([^/]+)\//.exec(source)?.[1];
    return module ?? (own === undefined ? 'the rest of the bundle' : `src/${own}`);
  };
}

function placeOf({ callFrame: { functionName, url, lineNumber, columnNumber } }: ProfileNode, origin: Origin): string {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(idle)') return 'idle: threads and other processes are waited for';
  if (url === 'node:vm') return "V8's code cache, deserialized";
  if (url.startsWith('node:')) return `Node: ${/^node:(?:internal\/)?([a-z_]+)/.exec(url)?.[1] ?? ''}`;
  if (url.endsWith('main.cjs')) return origin(lineNumber, columnNumber);
  return url === '' ? 'native code of Node and V8' : 'launcher';
}
