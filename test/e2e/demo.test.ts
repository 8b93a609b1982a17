import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogEvent } from '../../src/shared/log/log-event.ts';
import { sharedMemoryOf } from '../../src/proxy/base-ids.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import type { AgentExit, LogLine } from '../support/e2e/rig.ts';

interface Demo {
  readonly exit: Promise<AgentExit>;
  readonly logged: (
    event: LogEvent,
    fields?: Readonly<Record<string, unknown>>,
  ) => Promise<LogLine>;
  readonly log: () => readonly LogLine[];
  /** Sends a SIGINT. Resolves when it was received, because the kernel merges two pending ones. */
  readonly press: () => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly errors: () => string;
}

let folder: string;
let temporary: string;
let demos: Demo[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-e2e-demo-'));
  temporary = mkdtempSync(join(folder, 'tmp-'));
  demos = [];
});
afterEach(async () => {
  for (const demo of demos) demo.kill('SIGKILL');
  try {
    await expect.poll(processes).toHaveLength(0);
  } finally {
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

it('a new certificate becomes a new epoch, a Ctrl-C that comes more than once drains once, and nothing is left', async () => {
  const demo = await start({
    DEMO_ROTATE_EVERY: '3s',
    MINIMUM_DRAIN_DURATION: '1s',
    TERMINATION_DRAIN_DURATION_SECONDS: '1',
  });
  const { serial } = await demo.logged('demo.certificate_shown');
  expect(demo.errors()).toContain(`curl --cacert ${temporary}`);
  const { pid } = await demo.logged('epoch.started', { epoch: 0 });
  const sharedMemory = sharedMemoryOf(
    Number(/--base-id\0(\d+)/.exec(read(`/proc/${String(pid)}/cmdline`))?.[1]),
  );
  expect(existsSync(sharedMemory)).toBe(true);

  const written = await demo.logged('demo.certificate_written');
  await demo.logged('epoch.live', { epoch: 1 });
  await demo.logged('demo.certificate_shown', { serial: written['serial'] });
  expect(written['serial']).not.toBe(serial);

  const first = performance.now();
  while (performance.now() - first < 100) await demo.press();
  expect(await demo.exit, demo.errors()).toEqual({ code: 0, signal: null });
  expect(demo.log().filter(({ event }) => event === 'termination.requested')).toMatchObject([
    { msg: 'asked to end: draining' },
  ]);
  expect(demo.log()).toContainEqual(expect.objectContaining({ event: 'drain.ended', active: 0 }));
  expect(demo.log().at(-1)).toMatchObject({ event: 'demo.folder_removed', component: 'demo' });
  expect(processes()).toEqual([]);
  expect(left()).toEqual([]);
  expect(existsSync(sharedMemory)).toBe(false);
});

it('with --rotation sds a new certificate is pushed to the Envoy that runs', async () => {
  const quick = {
    DEMO_ROTATE_EVERY: '1s',
    MINIMUM_DRAIN_DURATION: '0s',
    TERMINATION_DRAIN_DURATION_SECONDS: '0',
  };
  const demo = await start(quick, ['--rotation', 'sds']);
  await demo.logged('epoch.live');
  await demo.logged('demo.certificate_shown');
  const written = await demo.logged('demo.certificate_written');
  await demo.logged('demo.certificate_shown', { serial: written['serial'] });
  expect(demo.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
  await demo.press();
  expect(await demo.exit, demo.errors()).toEqual({ code: 0, signal: null });
  expect(left()).toEqual([]);
});

it('a later Ctrl-C cuts the drain short', async () => {
  const demo = await start({
    MINIMUM_DRAIN_DURATION: '60s',
    TERMINATION_DRAIN_DURATION_SECONDS: '60',
  });
  await demo.logged('epoch.live', { epoch: 0 });
  const again = () =>
    demo.log().filter(({ event }) => event === 'termination.requested').length >= 2;
  await expect.poll(() => again() || demo.press().then(again), { interval: 50 }).toBe(true);
  expect((await demo.exit).code).toBe(0);
  expect(left()).toEqual([]);
});

it('the agent ends when the demo is killed', async () => {
  const demo = await start({
    MINIMUM_DRAIN_DURATION: '0s',
    TERMINATION_DRAIN_DURATION_SECONDS: '0',
  });
  await demo.logged('epoch.live', { epoch: 0 });
  demo.kill('SIGKILL');
  await demo.logged('agent.stopped');
  await expect.poll(() => processes()).toHaveLength(0);
});

it('a flag that is not understood ends the demo as it ends the agent', async () => {
  const demo = await start({}, ['--minDelay', 'soon']);
  expect(await demo.exit).toEqual({ code: 64, signal: null });
  expect(demo.errors()).toContain("pilot-agent: --minDelay: 'soon' is not a duration");
  expect(left()).toEqual([]);
});

/**
 * Starts the demo with short times, on ports of its own. Its output is a file, so that the log is
 * JSON.
 */
async function start(env: NodeJS.ProcessEnv, flags: readonly string[] = []): Promise<Demo> {
  const [tls = 0, admin = 0, status = 0] = await freePorts(3);
  const [stdout, stderr] = [join(folder, 'stdout'), join(folder, 'stderr')];
  const descriptors = [openSync(stdout, 'a'), openSync(stderr, 'a')];
  const args = [
    '--proxyAdminPort',
    String(admin),
    '--statusPort',
    String(status),
    '--drainDuration',
    '1s',
    '--parentShutdownDuration',
    '2s',
  ];
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', resolve('demo/start.ts'), ...args, '--minDelay', '100ms', ...flags],
    {
      stdio: ['ignore', ...descriptors],
      env: { ...process.env, TMPDIR: temporary, DEMO_TLS_PORT: String(tls), ...env },
    },
  );
  for (const descriptor of descriptors) closeSync(descriptor);
  const log = () =>
    read(stdout)
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine);
  const matches = (line: LogLine, fields: Readonly<Record<string, unknown>>) =>
    Object.entries(fields).every(([name, value]) => line[name] === value);
  const demo: Demo = {
    exit: new Promise((done) => child.once('exit', (code, signal) => done({ code, signal }))),
    logged: (event, fields = {}) =>
      eventually(() => log().find((line) => line.event === event && matches(line, fields))).catch(
        (error: unknown) => {
          throw new Error(`${event}: ${String(error)}\n${read(stdout)}${read(stderr)}`);
        },
      ),
    log,
    press: async () => {
      child.kill('SIGINT');
      await expect.poll(() => isPending(child.pid ?? 0), { interval: 1 }).toBe(false);
    },
    kill: (signal) => child.kill(signal),
    errors: () => read(stderr),
  };
  demos.push(demo);
  return demo;
}

/** Whether a SIGINT is still pending. False if the process has ended. */
function isPending(pid: number): boolean {
  const masks = [...read(`/proc/${pid}/status`).matchAll(/^(?:ShdPnd|SigPnd):\s*(\w+)$/gm)].map(
    ([, mask = '']) => BigInt(`0x${mask}`),
  );
  return masks.some((mask) => (mask & (1n << BigInt(constants.signals.SIGINT - 1))) !== 0n);
}

/** Returns what the demo left in the folder for temporary files. tsx keeps its cache there. */
function left(): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('pilot-agent'));
}

/** Returns the processes of the agent and its Envoys. */
function processes(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(temporary));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
