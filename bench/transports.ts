import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, type BuildOptions } from 'esbuild';
import { connects } from '../test/support/connects.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { median } from './median.ts';
import { cpuOf, memoryOf } from './process-figures.ts';
import { encoded, framed, method, version } from './transports/transport.ts';

interface Bundling {
  readonly bundleOptions: BuildOptions;
}

const names = ['grpc-js', 'connect-node', 'node-http2'] as const;
type Name = (typeof names)[number];

const titles: Readonly<Record<Name, string>> = {
  'grpc-js': '`@grpc/grpc-js`',
  'connect-node': '`@connectrpc/connect-node`',
  'node-http2': '`node:http2`, framed by hand',
};

/** The time until a process is at rest. In ms. */
const rest = 3_000;
const connections = 1_000;
const readers = { count: 100, answers: 10, size: 1 << 20 } as const;
const slow = { count: 20, answers: 20, size: 1 << 20 } as const;

/** The values of one transport. Each key is a row of the report. */
interface Measured {
  readonly 'a first call: until its answer, ms': number;
  readonly '… CPU time, ms': number;
  readonly '… own memory over bare Node, MB': number;
  readonly '… with three streams, MB': number;
  readonly 'a server: own memory of one of 1,000 connections, KB': number;
  readonly '… CPU time of such a connection, ms': number;
  readonly 'answers of 1 MiB: CPU time of 1 GiB, ms': number;
  readonly '… largest growth of own memory, MB': number;
  readonly 'clients that read nothing: growth of own memory, with 400 MiB unsent, MB': number;
}

/**
 * `bench transports [ROUNDS]`: three ways to speak gRPC, each alone in a process. The other end of
 * a server is always `node:http2`, in this process.
 */
export async function transports(rounds = 5): Promise<Report> {
  const { name: node, path } = runtimes().at(-1) ?? { name: '', path: process.execPath };
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-transports-'));
  try {
    for (const name of ['.npmrc', 'package.json', 'package-lock.json'])
      cpSync(join('bench/transports', name), join(folder, name));
    execFileSync('npm', ['ci', '--silent', '--prefix', folder]);
    await bundle(folder);
    const bare = await bareMemory(path);
    const measured = new Map<Name, Measured[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++)
      for (const name of names) {
        const server = (size: number, times: number) =>
          started(path, [join(folder, `${name}.cjs`), 'serve', `${size}`, `${times}`]);
        measured.get(name)?.push({
          ...(await firstCall(
            path,
            join(folder, `${name}.cjs`),
            join(folder, 'node-http2.cjs'),
            bare,
          )),
          ...(await manyConnections(server)),
          ...(await largeAnswers(server)),
          ...(await slowReaders(server)),
        });
      }
    const keys = Object.keys(measured.get('grpc-js')?.[0] ?? {}) as (keyof Measured)[];
    return {
      columns: ['What', ...names.map((name) => titles[name])],
      rows: keys.map((key) => [
        key,
        ...names.map((name) =>
          median((measured.get(name) ?? []).map((measurement) => measurement[key])).toFixed(1),
        ),
      ]),
      notes: [
        `${node}, medians of ${rounds}. Each is bundled as the programs are, without a code cache, and alone in its process; own memory is RssAnon.`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundle(folder: string): Promise<void> {
  const { bundleOptions } = (await import(resolve('scripts/bundle-options.mjs'))) as Bundling;
  for (const name of names)
    await build({
      ...bundleOptions,
      stdin: {
        contents: `import { transport } from './bench/transports/${name}${name === 'connect-node' ? '.mjs' : '.ts'}'; import { run } from './bench/transports/run.ts'; run(transport);`,
        resolveDir: '.',
      },
      nodePaths: [join(folder, 'node_modules'), resolve('node_modules')],
      outfile: join(folder, `${name}.cjs`),
      logLevel: 'silent',
    });
  writeFileSync(join(folder, 'bare.cjs'), 'setInterval(() => 0, 1e9)');
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

type Start = (size: number, times: number) => Promise<Started>;

async function started(node: string, args: readonly string[]): Promise<Started> {
  const [port = 0] = await freePorts(1);
  const [program = '', side = '', ...more] = args;
  const child = spawn(node, [program, side, `${port}`, ...more], { stdio: 'inherit' });
  while (!(await connects(port))) await sleep(20);
  return { child, pid: child.pid ?? 0, port };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function bareMemory(node: string): Promise<number> {
  const child = spawn(node, ['-e', 'setInterval(() => 0, 1e9)']);
  await sleep(rest);
  const { anonymous } = memoryOf(child.pid ?? 0);
  await end(child);
  return anonymous;
}

async function firstCall(
  node: string,
  program: string,
  other: string,
  bare: number,
): Promise<
  Pick<
    Measured,
    | 'a first call: until its answer, ms'
    | '… CPU time, ms'
    | '… own memory over bare Node, MB'
    | '… with three streams, MB'
  >
> {
  const server = await started(node, [other, 'serve', '2048', '1']);
  const child = spawn(node, [program, 'call', `${server.port}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  const [time = 0, cpu = 0] = JSON.parse(printed.toString()) as number[];
  await sleep(rest);
  const memoryWithOne = memoryOf(child.pid ?? 0).anonymous;
  child.stdin.write('\n');
  await once(child.stdout, 'data');
  await sleep(rest);
  const memoryWithThree = memoryOf(child.pid ?? 0).anonymous;
  await end(child);
  await end(server.child);
  return {
    'a first call: until its answer, ms': time,
    '… CPU time, ms': cpu,
    '… own memory over bare Node, MB': memoryWithOne - bare,
    '… with three streams, MB': memoryWithThree - bare,
  };
}

function open(session: ClientHttp2Session): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': method,
    te: 'trailers',
    'content-type': 'application/grpc+proto',
  });
  stream.on('error', () => undefined);
  stream.write(framed(encoded(version)));
  return stream;
}

function session(port: number): ClientHttp2Session {
  return connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
}

async function manyConnections(
  start: Start,
): Promise<
  Pick<
    Measured,
    'a server: own memory of one of 1,000 connections, KB' | '… CPU time of such a connection, ms'
  >
> {
  const { child, pid, port } = await start(2_048, 1);
  const sessions: ClientHttp2Session[] = [];
  const add = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const client = session(port);
      sessions.push(client);
      await once(open(client), 'data');
    }
    await sleep(rest);
  };
  await add(50); // the first connections load code
  const before = memoryOf(pid).anonymous;
  const cpuBefore = cpuOf(pid);
  await add(connections);
  const memory = memoryOf(pid).anonymous - before;
  const cpu = cpuOf(pid) - cpuBefore;
  for (const client of sessions) client.destroy();
  await end(child);
  return {
    'a server: own memory of one of 1,000 connections, KB': (memory * 1024) / connections,
    '… CPU time of such a connection, ms': cpu / connections,
  };
}

async function largeAnswers(
  start: Start,
): Promise<
  Pick<Measured, 'answers of 1 MiB: CPU time of 1 GiB, ms' | '… largest growth of own memory, MB'>
> {
  const { child, pid, port } = await start(readers.size, readers.answers);
  const clients = Array.from({ length: readers.count }, () => session(port));
  await sleep(rest);
  const before = { own: memoryOf(pid).anonymous, cpu: cpuOf(pid) };
  let peak = before.own;
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid).anonymous);
  }, 20);
  const whole = readers.size * readers.answers;
  await Promise.all(
    clients.map(
      (client) =>
        new Promise<void>((done) => {
          let bytes = 0;
          open(client).on('data', (piece: Buffer) => {
            bytes += piece.length;
            if (bytes >= whole) done();
          });
        }),
    ),
  );
  clearInterval(timer);
  const cpu = cpuOf(pid) - before.cpu;
  for (const client of clients) client.destroy();
  await end(child);
  return {
    'answers of 1 MiB: CPU time of 1 GiB, ms': (cpu * 2 ** 30) / (whole * readers.count),
    '… largest growth of own memory, MB': peak - before.own,
  };
}

async function slowReaders(
  start: Start,
): Promise<
  Pick<Measured, 'clients that read nothing: growth of own memory, with 400 MiB unsent, MB'>
> {
  const { child, pid, port } = await start(slow.size, slow.answers);
  const clients = Array.from({ length: slow.count }, () => session(port));
  await sleep(rest);
  const before = memoryOf(pid).anonymous;
  for (const client of clients) open(client); // the client does not read the data
  await sleep(rest);
  const memory = memoryOf(pid).anonymous - before;
  for (const client of clients) client.destroy();
  await end(child);
  return {
    'clients that read nothing: growth of own memory, with 400 MiB unsent, MB': memory,
  };
}
