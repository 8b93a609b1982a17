import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CertificateAuthority,
  certificateAuthority,
  writeCertificates,
} from '../demo/certificates.ts';
import { certificateEnv, processesOf } from '../test/support/e2e/rig.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { type Contender, contenders, installedEnvoy } from './contenders.ts';

export interface Place {
  readonly folder: string;
  readonly certDir: string;
  readonly ports: { readonly admin: number; readonly listen: number; readonly status: number };
}

/** A running process of an agent. */
export interface Life {
  readonly pid: number;
  /** In ms since 1970. */
  readonly started: number;
  /** Resolves when Envoy is LIVE. */
  live(): Promise<void>;
  /** Resolves when the agent is ready. */
  ready(): Promise<void>;
  /** Kills the agent and all processes that it has started. */
  end(): Promise<void>;
}

interface More {
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: readonly string[];
}

/** The same Envoy, configuration and ports for all agents, which run one after the other. */
export interface Scene extends Place {
  readonly ca: CertificateAuthority;
  readonly contenders: readonly Contender[];
  /** A file that is written each time an Envoy process starts. */
  readonly stamp: string;
  start(contender: Contender, more?: More): Life;
  /** Starts an agent, calls `use` when its Envoy is LIVE, and ends the agent after that. */
  whileLive(contender: Contender, use: (life: Life) => Promise<void>, more?: More): Promise<void>;
  dispose(): void;
}

/** The longest time that a step may take. In ms. */
const longest = 30_000;

export async function makeScene(config: (place: Place) => unknown): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bench-'));
  const certDir = join(folder, 'certs');
  const [admin = 0, listen = 0, status = 0] = await freePorts(3);
  const place: Place = { folder, certDir, ports: { admin, listen, status } };
  const ca = await certificateAuthority();
  mkdirSync(certDir);
  writeCertificates(certDir, await ca.issue());
  const bootstrap = join(folder, 'envoy.json');
  writeFileSync(bootstrap, JSON.stringify(config(place)));
  const stamp = join(folder, 'stamp');
  const binaryPath = stampedEnvoy(folder, installedEnvoy());
  const configPath = join(folder, 'run');

  const common = {
    ...process.env,
    ...certificateEnv(certDir),
    STAMP: stamp,
    POD_NAME: 'pod',
    POD_NAMESPACE: 'ns',
    INSTANCE_IP: '127.0.0.1',
    TERMINATION_DRAIN_DURATION_SECONDS: '1',
    MINIMUM_DRAIN_DURATION: '0s',
  };
  const flags = [
    'proxy',
    'sidecar',
    '--binaryPath',
    binaryPath,
    '--configPath',
    configPath,
    '--customConfigFile',
    bootstrap,
    '--proxyAdminPort',
    String(admin),
    '--statusPort',
    String(status),
    '--drainDuration',
    '1s',
    '--parentShutdownDuration',
    '2s',
  ];
  const proxyConfig = {
    binaryPath,
    configPath,
    proxyBootstrapTemplatePath: bootstrap,
    proxyAdminPort: admin,
    statusPort: status,
    discoveryAddress: '127.0.0.1:1',
  };
  const ways: Readonly<
    Record<Contender['kind'], { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv }>
  > = {
    own: { args: flags, env: {} },
    'go-1.5': {
      args: [...flags, '--controlPlaneBootstrap=false', '--serviceregistry', 'Mock'],
      env: { JWT_POLICY: 'none', SDS_ENABLED: 'false' },
    },
    'go-1.30': {
      args: ['proxy', 'sidecar'],
      env: {
        PROXY_CONFIG: JSON.stringify(proxyConfig),
        FILE_MOUNTED_CERTS: 'true',
        XDS_ROOT_CA: join(certDir, 'root-cert.pem'),
        ENVOY_PROMETHEUS_PORT: String(admin),
      },
    },
  };
  const scene: Scene = {
    ...place,
    ca,
    contenders: contenders(),
    stamp,
    start({ name, kind, command }, { env = {}, flags: more = [] } = {}) {
      const [file = '', ...args] = [...command, ...ways[kind].args, ...more];
      rmSync(stamp, { force: true });
      const started = performance.timeOrigin + performance.now();
      const child = spawn(file, args, {
        env: { ...common, ...ways[kind].env, ...env },
        stdio: 'ignore',
        cwd: folder,
      });
      const ended = new Promise((done) => child.once('exit', done));
      const until = async (port: number, path: string) => {
        while (!(await is200(port, path))) {
          if (performance.timeOrigin + performance.now() - started > longest)
            throw new Error(`${name}: no 200 from ${path} in ${longest} ms`);
          await sleep(1);
        }
      };
      return {
        pid: child.pid ?? 0,
        started,
        live: () => until(admin, '/ready'),
        ready: () => until(status, '/healthz/ready'),
        async end() {
          child.kill('SIGKILL');
          await ended;
          for (const pid of processesOf(folder)) kill(pid);
          while (processesOf(folder).length > 0) await sleep(5);
          rmSync(configPath, { recursive: true, force: true });
        },
      };
    },
    async whileLive(contender, use, more) {
      const life = scene.start(contender, more);
      try {
        await life.live();
        await use(life);
      } finally {
        await life.end();
      }
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
  return scene;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/**
 * Writes a script that starts Envoy. It first writes the stamp file, whose time is that of the
 * start, to a tick of the kernel (4 ms). It leaves out the flag of the Go agent that Envoy no
 * longer knows.
 */
function stampedEnvoy(folder: string, real: string): string {
  const path = join(folder, 'envoy');
  const lines = [
    '#!/bin/sh',
    ': >"$STAMP"',
    'for arg do',
    '  shift',
    '  if [ "$skip" = yes ]; then skip=no; elif [ "$arg" = --max-obj-name-len ]; then skip=yes; else set -- "$@" "$arg"; fi',
    'done',
    `exec ${real} "$@"`,
    '',
  ];
  writeFileSync(path, lines.join('\n'), { mode: 0o755 });
  return path;
}

function is200(port: number, path: string): Promise<boolean> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, path, agent: false, timeout: 500 }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    }).on('error', () => done(false));
  });
}
