import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeapSpaceInfo } from 'node:v8';
import { type Contender, runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { memoryOf } from './process-figures.ts';
import { rotate, rotationScene } from './rotations.ts';
import type { Life, Scene } from './scene.ts';
import { fullLoad, merging, statusScene } from './status.ts';

/** V8 returns unused memory after some seconds. In ms. */
const settlingTime = 30_000;
const rotations = 30;

/** MB by part. */
type Parts = Readonly<Record<string, number>>;

/** The figures that a process writes about itself on request. */
interface HeapFigures {
  readonly spaces: readonly HeapSpaceInfo[];
  readonly external: number;
}

/**
 * `bench held [MINUTES]`: what the memory of an agent consists of at rest, after full load on the
 * status port, and after rotations.
 */
export async function heldMemory(minutes = 4): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-held-'));
  try {
    const { execArgv } = (await import(resolve('scripts/package-options.mjs'))) as {
      readonly execArgv: readonly string[];
    };
    const reader = readerIn(folder, execArgv);
    const loaded = await inScene(statusScene(10), reader, (scene) => fullLoad(scene, minutes));
    const rotated = await inScene(rotationScene(), reader, (scene) => rotate(scene, 1, rotations));
    const columns = [...loaded, ...rotated];
    return {
      columns: [
        'Part',
        'At rest, MB',
        `After ${minutes} minutes of load`,
        'At rest, MB',
        `After ${rotations} rotations`,
      ],
      rows: Object.keys(columns[0] ?? {}).map((part) => [
        part,
        ...columns.map((parts) => (parts[part] ?? 0).toFixed(1)),
      ]),
      notes: [
        `The agent is the bundle on ${reader.contender.name} with the flags of the executable and \`MALLOC_ARENA_MAX=1\`. Memory is read ${settlingTime / 1_000} s after its start, and ${settlingTime / 1_000} s after the load and the rotations of the benchmarks above. V8 keeps more pages than its objects need.`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Reader {
  readonly contender: Contender;
  readonly read: (life: Life) => Promise<Parts>;
}

/** An agent on a Node with these flags. It reports the memory that V8 holds. */
function readerIn(folder: string, nodeFlags: readonly string[]): Reader {
  const [answer, hook] = [join(folder, 'told.json'), join(folder, 'hook.cjs')];
  writeFileSync(
    hook,
    `const v8 = require('node:v8');
const { renameSync, writeFileSync } = require('node:fs');
const answer = ${JSON.stringify(answer)};
process.on('SIGUSR2', () => {
  writeFileSync(answer + '~', JSON.stringify({ spaces: v8.getHeapSpaceStatistics(), external: process.memoryUsage().arrayBuffers }));
  renameSync(answer + '~', answer);
});
`,
  );
  const { name, path } = runtimes().at(-1) ?? { name: '', path: process.execPath };
  return {
    contender: {
      name,
      kind: 'own',
      command: [path, ...nodeFlags, '--require', hook, resolve('dist/pilot-agent.cjs')],
    },
    async read({ pid }) {
      const { anonymous, rss } = memoryOf(pid);
      rmSync(answer, { force: true });
      process.kill(pid, 'SIGUSR2');
      while (!existsSync(answer)) await sleep(20);
      const heapReport = JSON.parse(readFileSync(answer, 'utf8')) as HeapFigures;
      return { ...partsOf(heapReport, anonymous), 'own (RssAnon)': anonymous, RSS: rss };
    },
  };
}

function partsOf({ spaces, external }: HeapFigures, anonymous: number): Parts {
  const sum = (names: RegExp, sizeOf: (space: HeapSpaceInfo) => number) =>
    spaces.reduce((total, space) => total + (names.test(space.space_name) ? sizeOf(space) : 0), 0) /
    2 ** 20;
  const [newSpaces, codeSpaces, oldSpaces] = [
    /^new_/,
    /^code_/,
    /^(old|large_object|trusted|shared)/,
  ];
  const parts = {
    "V8's room for new objects": sum(newSpaces, ({ physical_space_size: size }) => size),
    'V8: older objects': sum(oldSpaces, ({ space_used_size: used }) => used),
    'V8: free between them': sum(
      oldSpaces,
      ({ physical_space_size: size, space_used_size: used }) => size - used,
    ),
    'V8: compiled code': sum(codeSpaces, ({ physical_space_size: size }) => size),
    Buffers: external / 2 ** 20,
  };
  const rest = anonymous - Object.values(parts).reduce((total, value) => total + value, 0);
  return { ...parts, 'the rest: malloc, stacks, Node itself': rest };
}

/** The memory before and after `use`. */
async function inScene(
  making: Promise<Scene>,
  { contender, read }: Reader,
  use: (scene: Scene) => Promise<unknown>,
): Promise<readonly Parts[]> {
  const scene = await making;
  const parts: Parts[] = [];
  const { env } = merging(scene);
  try {
    const recordParts = async (life: Life) => {
      await sleep(settlingTime);
      parts.push(await read(life));
    };
    await scene.whileLive(
      contender,
      async (life) => {
        await recordParts(life);
        await use(scene);
        await recordParts(life);
      },
      { env: { ...env, MALLOC_ARENA_MAX: '1' }, flags: ['--minDelay', '0s'] },
    );
    return parts;
  } finally {
    scene.dispose();
  }
}
