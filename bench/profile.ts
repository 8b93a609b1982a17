import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median } from './median.ts';
import type { Report } from './page.ts';

/**
 * What `node --cpu-prof` writes:
 * https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile
 */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string } }[];
  readonly samples: readonly number[];
  /** In µs. */
  readonly timeDeltas: readonly number[];
}

/**
 * `bench profile [ROUNDS]`: where the time of a whole short life of the agent goes, over a proxy
 * that ends at once: medians of self time, in ms.
 */
export function profile(rounds = 9): Promise<Report> {
  const runs = Array.from({ length: rounds }, () => oneLife());
  const kinds = ["Node's own modules", 'the bundle', 'garbage collection', 'program', 'idle'] as const;
  return Promise.resolve({
    columns: ['Where', 'Self time'],
    rows: kinds.map((kind) => [kind, `${median(runs.map((run) => run.get(kind) ?? 0)).toFixed(1)} ms`]),
    notes: [
      `Medians of ${rounds} short lives of the agent, with the profiler on. "program" is native code: the start of processes and the deserialization of the code cache included.`,
    ],
  });
}

function oneLife(): ReadonlyMap<string, number> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-profile-'));
  try {
    const config = join(folder, 'envoy.json');
    writeFileSync(config, '{}');
    const program = [resolve('dist/pilot-agent.cjs'), 'proxy', '--binaryPath', '/bin/true', '--customConfigFile', config];
    const flags = ['--configPath', join(folder, 'run'), '--statusPort', '0'];
    spawnSync(process.execPath, ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder, ...program, ...flags], {
      stdio: 'ignore',
    });
    const name = readdirSync(folder).find((file) => file.endsWith('.cpuprofile')) ?? '';
    return selfTimes(JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): ReadonlyMap<string, number> {
  const kinds = new Map(nodes.map(({ id, callFrame }) => [id, kindOf(callFrame.functionName, callFrame.url)]));
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const kind = kinds.get(id) ?? 'program';
    times.set(kind, (times.get(kind) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  });
  return times;
}

function kindOf(name: string, url: string): string {
  if (name === '(idle)') return 'idle';
  if (name === '(garbage collector)') return 'garbage collection';
  if (url.startsWith('node:')) return "Node's own modules";
  return url === '' ? 'program' : 'the bundle';
}
