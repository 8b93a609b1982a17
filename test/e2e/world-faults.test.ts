import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { type Clear, clearedAfter } from '../support/cleared-after.ts';
import { eventually } from '../support/eventually.ts';
import { leftOut } from '../support/left-out.ts';
import { takesNodeOptions } from '../support/e2e/program.ts';
import { makeRig, type Rig, type RunningAgent, type StartOptions } from '../support/e2e/rig.ts';

/** A fault of the world around an agent, which is there from `begin` until `end`. */
interface WorldFault {
  /** Returns how to start an agent. If `atOnce`, the fault is there before the agent. */
  readonly start: (atOnce: boolean) => Pick<StartOptions, 'wrap' | 'env'>;
  readonly begin: (agent: RunningAgent | undefined) => void;
  readonly end: () => void;
  /** Whether the fault has reached the agent. */
  readonly isMet?: () => boolean;
  /** Whether the agent can do nothing before the fault is over. */
  readonly holds?: true;
}

const preload = { NODE_OPTIONS: `--require ${resolve('test/support/e2e/busy-pool.cjs')}` };
const busy = (atOnce: boolean, env: NodeJS.ProcessEnv = {}) => ({
  ...preload,
  ...env,
  ...(atOnce && { BUSY_AT_ONCE: '1' }),
});
const mountOver = (file: string) =>
  [
    'unshare',
    '-m',
    'sh',
    '-c',
    `mount --bind ${file} /etc/resolv.conf && exec "$@"`,
    'sh',
  ] as const;

function isMountable(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '--bind', '/dev/null', '/etc/resolv.conf'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

async function silentNames({ folder }: Rig, clear: Clear): Promise<WorldFault> {
  const server = createSocket('udp4'); // it receives, and does not answer
  clear(() => void server.close());
  const [address, clientPorts] = [
    `127.${randomInt(1, 255)}.${randomInt(1, 255)}.77`,
    new Set<number>(),
  ];
  server.on('message', (_, { port }) => clientPorts.add(port));
  await once(server.bind(53, address), 'listening');
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, '');
  const say = () => writeFileSync(file, `nameserver ${address}\noptions timeout:2 attempts:1\n`);
  return {
    start: (atOnce) => ({ wrap: mountOver(file), env: busy(atOnce) }),
    begin: (agent) => {
      say();
      agent?.kill('SIGUSR2');
    },
    end: () => writeFileSync(file, ''),
    isMet: () => clientPorts.size > 0,
  };
}

function fullPool({ folder }: Rig): WorldFault {
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  return {
    start: (atOnce) => ({ env: busy(atOnce, { BUSY_FIFO: fifo }) }),
    begin: (agent) => agent?.kill('SIGUSR2'),
    end: () => {
      try {
        closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
      } catch {
        // No process reads the FIFO.
      }
    },
    holds: true,
  };
}

async function refusingProxy(_: Rig, clear: Clear): Promise<WorldFault> {
  let refuses = false;
  const proxy = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    if (refuses) socket.resetAndDestroy();
  });
  clear(() => void proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [
    name,
    name.toUpperCase(),
  ]);
  return {
    start: () => ({
      env: { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(names.map((name) => [name, url])) },
    }),
    begin: () => void (refuses = true),
    end: () => void (refuses = false),
  };
}

const faults: Readonly<
  Record<string, (rig: Rig, clear: Clear) => WorldFault | Promise<WorldFault>>
> = {
  ...(takesNodeOptions && isMountable() && { 'a name server that is silent': silentNames }),
  ...(takesNodeOptions && { 'a thread pool that is full': fullPool }),
  'a proxy of the environment that refuses': refusingProxy,
};
if (Object.keys(faults).length < 3)
  leftOut('a fault of the world: a silent name server, or a full thread pool');

async function prepare(make: (typeof faults)[string], clear: Clear) {
  const rig = await makeRig();
  clear(() => rig.dispose());
  const application = createServer((_, response) => response.end('application_up 1\n')).listen(
    0,
    '127.0.0.1',
  );
  clear(() => application.close().closeAllConnections());
  await once(application, 'listening');
  const { port } = application.address() as AddressInfo;
  const fault = await make(rig, clear);
  clear(() => fault.end());
  const about = {
    ISTIO_KUBE_APP_PROBERS: JSON.stringify({
      '/app-health/a/readyz': { httpGet: { port }, timeoutSeconds: 10 },
    }),
    ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ port: String(port) }),
    ...{ MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1' },
  };
  const start = (atOnce: boolean) => {
    const { wrap = [], env } = fault.start(atOnce);
    return rig.start([], { wrap, env: { ...about, ...env } });
  };
  return { rig, fault, start };
}

/** Checks the answers of the status port about the agent, Envoy and the application. */
async function answers({ ports }: Rig): Promise<void> {
  const ask = (path: string) => fetch(`http://127.0.0.1:${ports.status}${path}`);
  expect([
    (await ask('/healthz/ready')).status,
    (await ask('/app-health/a/readyz')).status,
  ]).toEqual([200, 200]);
  expect(await (await ask('/stats/prometheus')).text()).toMatch(/^application_up 1$/m);
}

describe.concurrent.each(Object.entries(faults))('%s', (_, make) => {
  it('at the start: the agent serves, at the latest when it is over', () =>
    clearedAfter(async (clear) => {
      const { rig, fault, start } = await prepare(make, clear);
      fault.begin(undefined);
      const agent = start(true);
      if (fault.holds === true) {
        const writing = setInterval(fault.end, 200); // until the agent has opened the FIFO
        clear(() => clearInterval(writing));
      }
      await agent.said('epoch.live', 0);
      await eventually(async () => (await rig.ready()).status === 200);
      await answers(rig);
      await eventually(() => fault.isMet?.() ?? true);
    }));

  it('in the middle: the status port answers, and a new certificate is served', () =>
    clearedAfter(async (clear) => {
      const { rig, fault, start } = await prepare(make, clear);
      const agent = start(false);
      await agent.said('epoch.live', 0);
      await eventually(async () => (await rig.ready()).status === 200);
      fault.begin(agent);
      await eventually(() => fault.isMet?.() ?? true);
      await answers(rig);
      const issued = await rig.ca.issue();
      writeCertificates(rig.certDir, issued);
      await answers(rig);
      fault.end();
      await eventually(
        async () => (await servedSerial(rig.ports.listen, rig.ca.rootCert)) === issued.serial,
      );
      expect(agent.log().filter(({ level }) => level === 'fatal')).toEqual([]);
    }));

  it('at the end: the agent ends as it was asked to, and leaves no process', () =>
    clearedAfter(async (clear) => {
      const { rig, fault, start } = await prepare(make, clear);
      const agent = start(false);
      await agent.said('epoch.live', 0);
      fault.begin(agent);
      agent.kill('SIGTERM');
      await eventually(() => rig.envoys().length === 0);
      // Node itself waits for its threads.
      if (fault.holds === true) fault.end();
      expect(await agent.exit, agent.errors()).toEqual({ code: 0, signal: null });
    }));
});
