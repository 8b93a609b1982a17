import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateAuthority, writeCertificates } from '../demo/certificates.ts';
import { envoyConfig } from '../demo/envoy-config.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { certificateEnv } from '../test/e2e/support/rig.ts';
import { median } from './median.ts';
import type { Report } from './page.ts';

/**
 * One agent to be measured: how it is started over `envoy` with the same configuration and
 * certificates as the others.
 */
interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The flag with which it is told that nobody asks for its status port. */
  readonly flags: readonly string[];
}

interface Start {
  readonly spawned: number;
  readonly live: number;
  readonly rss: number;
}

/** How long after LIVE an agent counts as idle. In ms. */
const settle = 3_000;

/**
 * `bench start [ROUNDS]`: from exec of the agent to exec of Envoy, to LIVE, and the agent's memory
 * when idle, for this agent, bare Node and, where it is to be had, the Go agent 1.5: in turns, in
 * one run, on one machine; medians, and ratios of medians.
 */
export async function start(rounds = 15): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bench-'));
  const certDir = join(folder, 'certs');
  const config = join(folder, 'envoy.json');
  const [admin = 0, listen = 0, status = 0] = await freePorts(3);
  mkdirSync(certDir);
  writeCertificates(certDir, await (await certificateAuthority()).issue());
  writeFileSync(config, JSON.stringify(envoyConfig({ adminPort: admin, listenPort: listen, certDir })));
  const program = resolve('dist/pilot-agent.cjs');
  const real = spawnSync(process.execPath, [program, 'envoy', 'path'], { encoding: 'utf8' }).stdout.trim();
  const envoy = stampedEnvoy(folder, real);
  const env = {
    ...process.env,
    ...certificateEnv(certDir),
    POD_NAME: 'pod',
    POD_NAMESPACE: 'ns',
    INSTANCE_IP: '127.0.0.1',
    STAMP: join(folder, 'stamp'),
  };

  const flags = [
    '--binaryPath',
    envoy,
    '--configPath',
    join(folder, 'run'),
    '--customConfigFile',
    config,
    '--proxyAdminPort',
    String(admin),
  ];
  const contenders: Contender[] = [
    { name: 'pilot-agent', command: [process.execPath, program], env, flags: ['--statusPort', String(status)] },
  ];
  const go = goAgent();
  if (go !== undefined) {
    contenders.push({ name: 'Go agent 1.5', command: [go], env: { ...env, JWT_POLICY: 'none', SDS_ENABLED: 'false' }, flags: ['--statusPort', String(status), '--controlPlaneBootstrap=false', '--serviceregistry', 'Mock'] }); // prettier-ignore
  }

  const bare: number[] = [];
  const starts = new Map<string, Start[]>(contenders.map(({ name }) => [name, []]));
  try {
    for (let round = 0; round < rounds; round++) {
      bare.push(bareNode());
      for (const { name, command, env: own, flags: more } of contenders) {
        starts
          .get(name)
          ?.push(await measure([...command, 'proxy', 'sidecar', ...flags, ...more], own, admin, join(folder, 'stamp'), folder));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }

  const floor = median(bare);
  const [own, peer] = contenders.map(({ name }) => {
    const measured = starts.get(name) ?? [];
    return { spawned: median(measured.map(({ spawned }) => spawned)), live: median(measured.map(({ live }) => live)), rss: median(measured.map(({ rss }) => rss)) }; // prettier-ignore
  });
  const ms = (value: number | undefined) => (value === undefined ? '–' : `${value.toFixed(0)} ms`);
  const mb = (value: number | undefined) => (value === undefined ? '–' : `${(value / 1024).toFixed(1)} MB`);
  const ratio = (a: number | undefined, b: number | undefined, what: string) =>
    a === undefined || b === undefined ? '–' : `${(a / b).toFixed(2)} × ${what}`;
  return {
    columns: ['What', 'pilot-agent', 'bare Node', 'Go agent 1.5', 'Ratio'],
    rows: [
      ["exec → Envoy's exec", ms(own?.spawned), ms(floor), ms(peer?.spawned), ratio(own?.spawned, floor, 'bare Node')],
      ['exec → LIVE', ms(own?.live), '–', ms(peer?.live), ratio(own?.live, peer?.live, 'Go')],
      ['memory when idle (RSS)', mb(own?.rss), '–', mb(peer?.rss), ratio(own?.rss, peer?.rss, 'Go')],
    ],
    notes: [
      `Medians of ${rounds} starts each, with the code cache. The goals are 1.5 × bare Node, 2 × and 1.5 × Go.`,
      ...(peer === undefined ? ['The Go agent 1.5 is not beside this checkout: left out.'] : []),
    ],
  };
}

/**
 * An Envoy whose start is the birth of the stamp file, to a tick of the kernel (4 ms), and leaves
 * out the one flag of the Go agent that Envoy no longer knows.
 */
function stampedEnvoy(folder: string, real: string): string {
  const path = join(folder, 'envoy');
  writeFileSync(
    path,
    `#!/bin/sh
: >"$STAMP"
for arg do
  shift
  if [ "$skip" = yes ]; then skip=no; elif [ "$arg" = --max-obj-name-len ]; then skip=yes; else set -- "$@" "$arg"; fi
done
exec ${real} "$@"
`,
  );
  chmodSync(path, 0o755);
  return path;
}

function goAgent(): string | undefined {
  const { status, stdout } = spawnSync(resolve('../shared/peers/get'), ['pilot-agent-1.5'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function bareNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - started;
}

async function measure(command: readonly string[], env: NodeJS.ProcessEnv, admin: number, stamp: string, folder: string): Promise<Start> {
  const [file = '', ...args] = command;
  const started = performance.timeOrigin + performance.now();
  const child = spawn(file, args, { env, stdio: 'ignore', cwd: folder });
  const ended = new Promise((done) => child.once('exit', done));
  try {
    while (!(await isLive(admin))) await sleep(1);
    const live = performance.timeOrigin + performance.now();
    const spawned = statSync(stamp).mtimeMs;
    await sleep(settle);
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8'))?.[1]);
    return { spawned: spawned - started, live: live - started, rss };
  } finally {
    spawnSync('pkill', ['-KILL', '-f', folder]);
    await ended;
    rmSync(stamp, { force: true });
    while (await isLive(admin)) await sleep(5);
  }
}

function isLive(port: number): Promise<boolean> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, path: '/ready', agent: false, timeout: 500 }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    }).on('error', () => done(false));
  });
}
