import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, type BuildOptions } from 'esbuild';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { median } from './median.ts';
import { type Memory, memoryOf } from './process-figures.ts';
import { type Life, makeScene } from './scene.ts';

interface Bundling {
  readonly bundleOptions: BuildOptions;
}

/** The code that is loaded: nothing, one package, or everything that the agent loads. */
const loaded: readonly (readonly [what: string, code: string])[] = [
  ['bare Node', ''],
  [
    '`node:crypto`, a first hash',
    "require('node:crypto').createHash('sha256').update('').digest()",
  ],
  ['`node:http`, a server', "require('node:http').createServer().listen(0)"],
  ['`rxjs`', importing('rxjs', 'map, merge, Observable, Subject, switchMap')],
  ['`zod/mini`', importing('zod/mini', 'object, optional, record, string, union')],
  ['`commander`', importing('commander', 'Command')],
  ['`execa`', importing('execa', 'execa')],
  ['`chokidar`', importing('chokidar', 'watch')],
  ['`pino`', importing('pino', 'pino')],
  [
    '`@grpc/grpc-js`, in a pod of a mesh',
    importing('@grpc/grpc-js', 'Client, credentials, Server'),
  ],
  [
    '`@peculiar/x509`, in a pod of a mesh',
    "import 'reflect-metadata';" +
      importing('@peculiar/x509', 'Pkcs10CertificateRequestGenerator, X509Certificate'),
  ],
  [
    'all modules of a start, not run',
    "export * from './src/pilot-agent/cli/program.ts'; export * from './src/pilot-agent/run/whole-agent.ts'",
  ],
];

/** Code that uses these exports of a package. Only they are bundled. */
function importing(name: string, used: string): string {
  return `import { ${used} } from '${name}'; globalThis.kept = [${used}]`;
}

/** The time until a process is at rest. In ms. */
const settlingTime = 1_000;
const atRest = 20_000;

/**
 * `bench modules [ROUNDS]`: the memory and the load time of each package that the agent loads. Each
 * package is alone in a process, and is compared with a Node that does nothing.
 */
export async function modules(rounds = 5): Promise<Report> {
  const { name: node, path } = runtimes().at(-1) ?? { name: '', path: process.execPath };
  const { bundleOptions } = (await import(resolve('scripts/bundle-options.mjs'))) as Bundling;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-modules-'));
  const scene = await makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
  try {
    const measured: { readonly what: string; readonly lives: readonly Loaded[] }[] = [];
    for (const [index, [what, code]] of loaded.entries()) {
      const program = join(folder, `${index}.cjs`);
      const stdin = { contents: code, resolveDir: '.' };
      await build({
        ...bundleOptions,
        stdin,
        outfile: `${program}.bundle.cjs`,
        logLevel: 'silent',
      });
      writeFileSync(
        program,
        `const start = performance.now(); require('./${index}.cjs.bundle.cjs'); console.log(performance.now() - start); setInterval(() => 0, 1e9); process.on('SIGTERM', () => process.exit())`,
      );
      const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
      await load(path, program, env); // this run writes the code cache
      const lives: Loaded[] = [];
      for (let round = 0; round < rounds; round++) lives.push(await load(path, program, env));
      measured.push({ what, lives });
    }
    const agents: Memory[] = [];
    const look = async ({ pid }: Life) => {
      await sleep(atRest);
      agents.push(memoryOf(pid));
    };
    await scene.whileLive(
      { name: node, kind: 'own', command: [path, resolve('dist/pilot-agent.cjs')] },
      look,
    );
    const medianMemory = (lives: readonly Memory[]) => median(lives.map((life) => life.anonymous));
    const bare = medianMemory(measured[0]?.lives ?? []);
    const over = (lives: readonly Memory[]) => (medianMemory(lives) - bare).toFixed(1);
    return {
      columns: ['What', 'Own memory over bare Node, MB', 'Time to load, ms'],
      rows: [
        ...measured
          .slice(1)
          .map(({ what, lives }) => [
            what,
            over(lives),
            median(lives.map(({ ms }) => ms)).toFixed(1),
          ]),
        [`the agent, ${atRest / 1_000} s after LIVE`, over(agents), '–'],
      ],
      notes: [
        `${node}, whose own memory (RssAnon) alone is ${bare.toFixed(1)} MB; medians of ${rounds}. Each is alone in a process, bundled, with a code cache. If two packages share code, it counts for both.`,
      ],
    };
  } finally {
    scene.dispose();
    rmSync(folder, { recursive: true });
  }
}

interface Loaded extends Memory {
  readonly ms: number;
}

async function load(node: string, program: string, env: NodeJS.ProcessEnv): Promise<Loaded> {
  const child = spawn(node, [program], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  await sleep(settlingTime);
  const memory = memoryOf(child.pid ?? 0);
  child.kill('SIGTERM'); // a code cache is written at the end
  await once(child, 'exit');
  return { ...memory, ms: Number(output.toString()) };
}
