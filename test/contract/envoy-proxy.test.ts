import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  asyncScheduler,
  concat,
  defer,
  filter,
  ignoreElements,
  lastValueFrom,
  NEVER,
  type Observable,
  switchMap,
  take,
  tap,
  toArray,
} from 'rxjs';
import { afterAll, describe, expect, it } from 'vitest';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { adminClient } from '../../src/proxy/admin-client.ts';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { envoyLogFormat } from '../../src/proxy/envoy-lines.ts';
import { envoyProxy } from '../../src/proxy/envoy-proxy.ts';
import { detachedEnvoys } from '../../src/proxy/detached-envoys.ts';
import { reserveBaseId, sharedMemoryOf } from '../../src/proxy/base-ids.ts';
import { restartAddresses } from '../../src/proxy/restart-addresses.ts';
import type { Tools } from '../../src/proxy/spawn-envoy.ts';
import { readingOf } from '../../src/testing/reading.ts';
import { builtGuard } from '../support/built-guard.ts';
import { freePorts } from '../support/free-ports.ts';
import { proxyContract } from './proxy-contract.ts';
import type { Life, World } from './stage.ts';

const binary = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
  encoding: 'utf8',
}).trim();
const inPath = (name: string) => findExecutable(name, process.env['PATH']);
const allTools: Tools = { mkfifo: inPath('mkfifo'), setpriv: inPath('setpriv'), sh: inPath('sh') };

const launch = {
  adopted: false,
  epoch: 0,
  restartEpoch: 0,
  lineage: 0,
  sideBySide: false,
} as const;

/** A script that writes 20,000 lines as fast as a shell can, and then exits at once. */
const flood = String.raw`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); printf '2025-01-01T00:00:00.000Z\tinfo\tenvoy main\tline %d\n' $i; done >&2; exit 3`;

interface Settings {
  readonly life: Life;
  readonly tools?: Tools;
  /** The shell script that runs in place of Envoy. */
  readonly script?: string;
  readonly logLevel?: string;
  /** Whether Envoy outlives its agent. */
  readonly adopted?: boolean;
  /** The answer of another server at the address of Envoy's admin endpoint. */
  readonly stranger?: string;
}

/** Makes a world with a real Envoy on free ports, in its own folder, and with its log messages. */
async function makeWorld({
  life,
  tools = allTools,
  script,
  logLevel = 'info',
  adopted = false,
  stranger,
}: Settings) {
  const root = mkdtempSync(join(tmpdir(), 'pilot-agent-contract-'));
  const folder = join(root, 'run');
  const certDir = join(root, 'certs');
  const config = join(root, 'envoy.json');
  mkdirSync(folder);
  mkdirSync(certDir);
  const [adminPort = 0, listenPort = 0] = await freePorts(2);
  const baseIds: number[] = [];
  const addresses = restartAddresses(folder, () => {
    const reserved = reserveBaseId();
    baseIds.push(reserved.baseId);
    return reserved;
  });

  const answers: (() => void)[] = [];
  const upstream = createServer((incoming, response) => {
    answers.push(() => response.end('at last'));
    incoming.resume();
  }).listen(0, '127.0.0.1');
  const neighbour = createTcpServer();
  const servers: Server[] = [upstream, neighbour];
  await once(upstream, 'listening');
  if (life === 'finds its port taken')
    await once(neighbour.listen(listenPort, '127.0.0.1'), 'listening');

  if (stranger !== undefined) {
    const impostor = createServer((_, response) => void response.end(stranger));
    servers.push(impostor);
    await once(impostor.listen(adminPort, '127.0.0.1'), 'listening');
  }

  const write = (keyPair: boolean) => {
    const { port } = upstream.address() as AddressInfo;
    const { admin, ...rest } = envoyConfig({
      adminPort,
      listenPort,
      upstreamPort: port,
      ...(keyPair && { certDir }),
    });
    writeFileSync(
      config,
      JSON.stringify(life === 'has no admin endpoint' ? rest : { admin, ...rest }),
    );
  };
  writeFileSync(join(certDir, 'cert-chain.pem'), 'its key is missing');
  const program = join(root, 'program');
  if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  write(life === 'fails for want of key.pem');

  const heard: string[] = [];
  const addressFile = join(folder, 'envoy-admin-address');
  const proxy = envoyProxy({
    binary:
      script !== undefined
        ? program
        : life === 'can not be started'
          ? join(root, 'no-such-envoy')
          : binary,
    args: {
      ...{
        drainDuration: 1_000,
        parentShutdownDuration:
          life === 'is told to end 3 s after its child is LIVE' ? 3_000 : 60_000,
        serviceCluster: 'cluster',
        serviceNode: 'node',
      },
      ...{
        ipv6: false,
        logFormat: envoyLogFormat,
        logLevel,
        componentLogLevel: '',
        concurrency: 1,
      },
    },
    explain: async (_, reason) => Promise.resolve({ reason }),
    admin: adminClient(addressFile, adminPort),
    addressFile,
    folder,
    pairs: [],
    drainsAll: false,
    tools,
    ...(adopted && {
      detached: detachedEnvoys({
        setsid: inPath('setsid') ?? '',
        sh: allTools.sh ?? '',
        folder,
        log: () => undefined,
        scheduler: asyncScheduler,
      }),
    }),
    restartAddresses: addresses,
    onLine: ({ message }) => heard.push(message),
  });
  const pids = new Set<number>();
  const processes = () => [...new Set([...pids, ...processesOf(root)])].filter(exists);
  const fate = async (pid: number) => {
    if (life !== 'ends cleanly by itself' && life !== 'is killed by somebody else') return;
    await expect.poll(() => statusOf(adminPort, '/ready')).toBe(200);
    if (life === 'is killed by somebody else') process.kill(pid, 'SIGKILL');
    else await statusOf(adminPort, '/quitquitquit', 'POST');
  };
  const requests: Promise<number>[] = [];
  const world: World = {
    reading: readingOf('hash', { kind: 'given', path: config, override: '' }),
    proxy: {
      ...proxy,
      run: (launch, signals$) =>
        proxy.run(launch, signals$).pipe(
          tap((event) => {
            if (event.type !== 'spawned') return;
            pids.add(event.pid);
            void fate(event.pid).catch(() => undefined);
          }),
        ),
    },
    slack: 60_000,
    alive: () => processes().length,
    remains: () => [
      ...processes().map((pid) => `process ${pid}`),
      ...baseIds.flatMap(guardsOf).map((pid) => `guard ${pid}`),
      ...readdirSync(folder).filter((name) => !adopted || name !== 'envoy.log'),
      ...baseIds.map(sharedMemoryOf).filter((path) => existsSync(path)),
    ],
    freeze: (_, pid) => void process.kill(pid, 'SIGSTOP'),
    thaw: (_, pid) => void process.kill(pid, 'SIGCONT'),
    spoil: () => write(true),
    sicken: () => done(() => statusOf(adminPort, '/healthcheck/fail', 'POST')),
    serves: () => done(() => expect.poll(() => statusOf(listenPort, '/')).toBe(200)),
    refuses: () => done(() => expect.poll(() => statusOf(listenPort, '/')).toBe(0)),
    ask: () =>
      done(() => {
        requests.push(statusOf(listenPort, '/slow'));
        return once(upstream, 'request');
      }),
    answer: () =>
      done(() => {
        answers.forEach((answer) => answer());
        return Promise.all(requests);
      }),
  };
  return {
    world,
    heard: heard as readonly string[],
    /** Removes what a failed trial left. */
    dispose: () => {
      for (const pid of [...processes(), ...baseIds.flatMap(guardsOf)])
        process.kill(pid, 'SIGKILL');
      upstream.closeAllConnections();
      for (const server of servers) server.close();
      for (const baseId of baseIds) rmSync(sharedMemoryOf(baseId), { force: true });
      rmSync(root, { recursive: true });
    },
  };
}

/** A trial that may also look at the log messages. */
interface EnvoyTrial {
  in(world: World, heard: readonly string[]): Observable<unknown>;
}

async function perform(settings: Settings, trial: EnvoyTrial): Promise<void> {
  const { world, heard, dispose } = await makeWorld(settings);
  try {
    await lastValueFrom(trial.in(world, heard), { defaultValue: undefined });
    await expect.poll(() => world.remains()).toHaveLength(0);
  } finally {
    dispose();
  }
}

proxyContract((life, trial) => perform({ life }, trial));

describe('an Envoy that outlives its agent', () => {
  proxyContract(
    (life, trial) => perform({ life, adopted: true }, trial),
    /^(run tells (?!that the)|SIGKILL: |SIGUSR1|a signal)/,
  );
});

const guardFolder = mkdtempSync(join(tmpdir(), 'pilot-agent-guard-'));
const built = builtGuard(guardFolder, 'The guard in place of setpriv, mkfifo and sh');
afterAll(() => rmSync(guardFolder, { recursive: true }));

describe.runIf(built !== undefined)('on a machine that has nothing but the guard', () => {
  const tools: Tools = { guard: built, mkfifo: undefined, setpriv: undefined, sh: undefined };

  proxyContract((life, trial) => perform({ life, tools }, trial), /^run /);

  it('an Envoy, even a stopped one, and what it shared end with the agent, whichever way that ends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-reaped-'));
    const [sockets, shared, baseId] = [join(folder, 'sockets'), join(folder, 'shared'), 19_191_919];
    mkdirSync(sockets);
    for (const file of [shared, join(sockets, 's_1')]) writeFileSync(file, '');
    const envoy = spawn('/bin/sh', ['-c', 'kill -STOP $$', 'envoy', '--base-id', String(baseId)], {
      stdio: 'ignore',
    });
    const other = spawn('/bin/sh', ['-c', 'kill -STOP $$', 'envoy', '--base-id', `${baseId}0`], {
      stdio: 'ignore',
    });
    const isStopped = ({ pid }: { pid?: number | undefined }) =>
      read(`/proc/${pid ?? 0}/stat`).includes(') T ');
    const env = {
      PILOT_AGENT_BASE_ID: String(baseId),
      PILOT_AGENT_SHARED_MEMORY: shared,
      PILOT_AGENT_SOCKETS: sockets,
    };
    const reaper = spawn(built ?? '', ['reap'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      await expect.poll(() => isStopped(envoy) && isStopped(other)).toBe(true);
      expect(reaper.exitCode).toBe(null);
      reaper.stdin.end();
      expect(await once(reaper, 'exit')).toEqual([0, null]);
      await expect.poll(() => envoy.signalCode).toBe('SIGKILL');
      expect(isStopped(other)).toBe(true);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      for (const child of [envoy, other, reaper]) child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });

  it('nothing is started for an agent that is gone', () => {
    const { status, stdout } = spawnSync(built ?? '', ['run', '1', '/bin/echo', 'started'], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, '']);
  });
});

describe('an Envoy that ends', () => {
  it('has been heard to its last word when its exit is emitted', () =>
    perform(
      { life: 'ends cleanly by itself', logLevel: 'trace' },
      {
        in(world, heard) {
          let heardAtExit: readonly string[] = [];
          return world.proxy.run({ ...launch, reading: world.reading }, NEVER).pipe(
            tap({
              next: ({ type }) => {
                if (type === 'exited') heardAtExit = [...heard];
              },
              complete: () => {
                expect(heardAtExit[0]).toMatch(/^initializing epoch 0/);
                expect(heardAtExit.at(-1)).toBe('init manager Server destroyed');
                expect(heard).toEqual(heardAtExit);
              },
            }),
          );
        },
      },
    ));

  it('in the middle of a flood of lines has been heard in full, and its last 20 lines are kept', () =>
    perform(
      { life: 'serves', script: flood },
      {
        in: (world, heard) =>
          world.proxy.run({ ...launch, reading: world.reading }, NEVER).pipe(
            tap((event) => {
              if (event.type === 'spawned') return;
              const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}`);
              expect(heard).toEqual(lines);
              expect(event.exit).toEqual({ kind: 'failed', code: 3, tail: lines.slice(-20) });
            }),
          ),
      },
    ));

  it.each([
    ['setpriv', { setpriv: undefined }],
    ['sh', { sh: undefined }],
    ['setpriv and mkfifo', { setpriv: undefined, mkfifo: undefined }],
  ])('before it has begun is an exit on a machine without %s, too', (_, lack) =>
    perform(
      { life: 'can not be started', tools: { ...allTools, ...lack } },
      {
        in: (world) =>
          world.proxy.run({ ...launch, reading: world.reading }, NEVER).pipe(
            toArray(),
            tap((events) =>
              expect(events.at(-1)).toMatchObject({
                type: 'exited',
                exit: { kind: 'spawn-failed' },
              }),
            ),
          ),
      },
    ),
  );
});

describe('with a stranger where the admin endpoint is looked for', () => {
  it.each(['hello', '', 'null', '[]', '{"state":"LIVE"}'])(
    'that answers %j to everything, nothing errors, nor is live',
    (stranger) =>
      perform(
        { life: 'has no admin endpoint', stranger },
        {
          in: ({ proxy, reading }) =>
            proxy.run({ ...launch, reading }, NEVER).pipe(
              filter(({ type }) => type === 'spawned'),
              switchMap(() =>
                concat(
                  proxy.health(0),
                  proxy.active(0),
                  proxy.drain(0, 'graceful'),
                  proxy.drain(0, 'close'),
                ).pipe(toArray()),
              ),
              take(1),
              tap((answers) => expect(answers).toEqual(['up', undefined])),
            ),
        },
      ),
  );
});

function done(action: () => Promise<unknown>): Observable<unknown> {
  return defer(action).pipe(ignoreElements());
}

/** Returns the status code of an answer; 0 if there is no answer. */
function statusOf(port: number, path: string, method = 'GET'): Promise<number> {
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', () => resolve(0))
      .end();
  });
}

/** Returns the processes that would end the Envoys if this process died. */
function guardsOf(baseId: number): number[] {
  return pidsWhere('environ', `PILOT_AGENT_BASE_ID=${baseId}\0`).filter(exists);
}

/**
 * Returns the processes of a folder, without those between two programs: they have no command line
 * for a moment.
 */
function processesOf(folder: string): number[] {
  return pidsWhere('cmdline', folder);
}

function pidsWhere(file: 'cmdline' | 'environ', text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => read(`/proc/${pid}/${file}`).includes(text));
}

function exists(pid: number): boolean {
  return /^\d+ \(.*\) [^ZX]/.test(read(`/proc/${pid}/stat`));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
