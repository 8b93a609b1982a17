import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { hammer } from './hammer.ts';
import { median } from './median.ts';
import { type Memory, memoryOf } from './process-figures.ts';
import { type Life, makeScene } from './scene.ts';

interface Build {
  readonly writeCodeCache: (node: readonly string[], program: string) => Promise<void>;
}

/** The time from LIVE until an agent is at rest. In ms. */
const settlingTime = 6_000;
/** How long clients send as many probes as they can. In ms. */
const loaded = 5_000;

interface Lever {
  readonly flags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const oneArena = { MALLOC_ARENA_MAX: '1' };
const all: readonly Lever[] = [
  {},
  { flags: ['--max-semi-space-size=1'] },
  { flags: ['--max-semi-space-size=2'] },
  { flags: ['--optimize-for-size'] },
  { flags: ['--lite-mode'] },
  { flags: ['--no-maglev'] },
  { flags: ['--v8-pool-size=0'] },
  { env: oneArena },
  { flags: ['--max-semi-space-size=2', '--no-maglev'] },
  { flags: ['--max-semi-space-size=2', '--no-maglev', '--no-separate-gc-phases'] },
  { flags: ['--max-semi-space-size=2', '--no-maglev', '--v8-pool-size=0'] },
  { flags: ['--max-semi-space-size=2', '--no-maglev'], env: oneArena },
];

/**
 * `bench levers [ROUNDS]`: how flags of V8 and a variable of malloc change an agent at rest and its
 * start. Each combination has its own code cache, for the newest Node that is installed.
 */
export async function levers(rounds = 3): Promise<Report> {
  const { name: node, path } = runtimes().at(-1) ?? { name: '', path: process.execPath };
  const { writeCodeCache } = (await import(resolve('scripts/build-program.mjs'))) as Build;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-levers-'));
  const scene = await makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
  try {
    const rows: string[][] = [];
    for (const [index, { flags = [], env = {} }] of all.entries()) {
      const program = join(folder, String(index), 'pilot-agent.cjs');
      cpSync('dist', join(folder, String(index)), { recursive: true });
      await writeCodeCache([path, ...flags], program);
      const lives: (Memory & {
        readonly live: number;
        readonly under: number;
        readonly perSecond: number;
      })[] = [];
      for (let round = 0; round < rounds; round++) {
        const contender = { name: node, kind: 'own', command: [path, ...flags, program] } as const;
        const look = async ({ pid, started }: Life) => {
          const live = performance.timeOrigin + performance.now() - started;
          await sleep(settlingTime);
          const rest = memoryOf(pid);
          const { perSecond } = await hammer({
            port: scene.ports.status,
            path: '/healthz/ready',
            connections: 8,
            duration: loaded,
          });
          lives.push({ ...rest, live, under: memoryOf(pid).anonymous, perSecond });
        };
        await scene.whileLive(contender, look, { env });
      }
      const what = [...flags, ...Object.entries(env).map((pair) => pair.join('='))].map(
        (word) => `\`${word}\``,
      );
      const medianOf = (pick: (life: (typeof lives)[number]) => number, digits: number) =>
        median(lives.map(pick)).toFixed(digits);
      rows.push([
        what.join(', ') || 'none',
        medianOf(({ anonymous }) => anonymous, 1),
        medianOf(({ rss }) => rss, 1),
        medianOf(({ under }) => under, 1),
        medianOf(({ perSecond }) => perSecond, 0),
        medianOf(({ live }) => live, 0),
      ]);
    }
    const columns = [
      'Lever',
      'Own (RssAnon), MB',
      'RSS, MB',
      'Own under load, MB',
      'Probes/s',
      'exec → LIVE, ms',
    ];
    return {
      columns,
      rows,
      notes: [
        `${node}; medians of ${rounds} runs each, ${settlingTime / 1_000} s after LIVE, and after ${loaded / 1_000} s of readiness probes by 8 clients.`,
      ],
    };
  } finally {
    scene.dispose();
    rmSync(folder, { recursive: true });
  }
}
