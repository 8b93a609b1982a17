import { spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CertificateAuthority,
  certificateAuthority,
  type Issued,
  writeCertificates,
} from '../../../demo/certificates.ts';
import { envoyConfig, type EnvoyConfigOptions } from '../../../demo/envoy-config.ts';
import type { LogEvent } from '../../../src/shared/log/log-event.ts';
import { sharedMemoryOf } from '../../../src/proxy/base-ids.ts';
import { type Answer, ask } from '../ask.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from '../free-ports.ts';
import { program } from './program.ts';

/** One line of the agent's log. */
export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly event: LogEvent;
  readonly msg: string;
  readonly epoch?: number;
}

export interface AgentExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A real agent as a user starts it, with its output so far. */
export interface RunningAgent {
  readonly pid: number;
  readonly exit: Promise<AgentExit>;
  /** Returns its standard output: its own log, and the output of Envoy. */
  output(): string;
  errors(): string;
  log(): readonly LogLine[];
  /** Resolves to the first line of that event; of that epoch, if one is named. */
  said(event: LogEvent, epoch?: number): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
}

export interface StartOptions {
  /** The start of a command line that becomes the agent. The agent's command line follows it. */
  readonly wrap?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly output?: number;
  /** Its working directory, which contains the pod's files; default the project's. */
  readonly cwd?: string;
  /**
   * Whether the agent makes the bootstrap, without `--customConfigFile`. The listeners of the
   * bootstrap are on `ports.prometheus` and `ports.health`.
   */
  readonly generated?: boolean;
  /** The role of the proxy; default `sidecar`. */
  readonly role?: string;
  /** The path of another build of the agent, for Node. */
  readonly program?: string;
}

/**
 * A folder with certificates and an Envoy configuration, free ports, and the agents that use them.
 */
export interface Rig {
  readonly folder: string;
  readonly certDir: string;
  readonly config: string;
  readonly ports: {
    readonly admin: number;
    readonly listen: number;
    readonly status: number;
    readonly prometheus: number;
    readonly health: number;
  };
  readonly ca: CertificateAuthority;
  readonly issued: Issued;
  start(flags?: readonly string[], options?: StartOptions): RunningAgent;
  /**
   * Returns the ids of the processes that were started for this rig and still run, except its
   * agents.
   */
  envoys(): readonly number[];
  /** Returns the files of the shared memory of these processes. */
  sharedMemory(): readonly string[];
  /** Resolves to the answer of the status port to a readiness probe. */
  ready(): Promise<Answer>;
  post(port: number, path: string): Promise<number>;
  dispose(): Promise<void>;
}

/** The flags for short times in tests. The log is JSON because the output is a file. */
const quick = ['--minDelay', '300ms', '--drainDuration', '1s', '--parentShutdownDuration', '2s'];

export async function makeRig(
  options: Partial<EnvoyConfigOptions> & {
    readonly plain?: boolean;
    /** The name of the secret that the listener requests from the agent. */
    readonly secret?: string;
    /**
     * The name of the secret with the roots of clients. If it is set, clients need a certificate.
     */
    readonly clientRoots?: string;
    /** Whether the configuration names the socket of the xDS proxy. */
    readonly isProxied?: boolean;
  } = {},
): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-e2e-'));
  const certDir = join(folder, 'certs');
  const config = join(folder, 'envoy.json');
  const [admin = 0, listen = 0, status = 0, prometheus = 0, health = 0] = await freePorts(5);
  const ca = await certificateAuthority();
  const issued = await ca.issue();
  mkdirSync(certDir);
  writeCertificates(certDir, issued);
  const { plain = false, secret, clientRoots, isProxied = false, ...envoyOptions } = options;
  const served =
    secret === undefined
      ? { certDir }
      : { sds: { socket: join(folder, 'run', 'SDS'), name: secret, clientRoots } };
  const named = { node: { metadata: { socket: join(folder, 'run', 'XDS') } } };
  writeFileSync(
    config,
    JSON.stringify(
      envoyConfig({
        adminPort: admin,
        listenPort: listen,
        ...(!plain && served),
        ...envoyOptions,
        ...(isProxied && { extra: { ...named, ...envoyOptions.extra } }),
      }),
    ),
  );

  const agents: RunningAgent[] = [];
  let kept = false;
  const envoys = () =>
    processesOf(folder).filter((pid) => agents.every((agent) => agent.pid !== pid));
  const rig: Rig = {
    folder,
    certDir,
    config,
    ports: { admin, listen, status, prometheus, health },
    ca,
    issued,
    start(
      flags = [],
      { env = {}, output, cwd, wrap = [], generated = false, role = 'sidecar', program } = {},
    ) {
      kept ||= flags.includes('--keepEnvoy');
      const standard = [
        ...(generated ? [] : ['--customConfigFile', config]),
        '--configPath',
        join(folder, 'run'),
        '--proxyAdminPort',
        admin,
        '--statusPort',
        status,
      ];
      const agent = startAgent(
        folder,
        ['proxy', role, ...standard.map(String), ...quick, ...flags],
        {
          ...certificateEnv(certDir),
          ENVOY_PROMETHEUS_PORT: String(prometheus),
          ENVOY_STATUS_PORT: String(health),
          ...env,
        },
        { output, cwd, wrap, program },
      );
      agents.push(agent);
      return agent;
    },
    envoys,
    sharedMemory: () => sharedBy(envoys()),
    ready: () => ask(status, '/healthz/ready'),
    post: (port, path) =>
      new Promise((done, fail) => {
        request({ host: '127.0.0.1', port, path, method: 'POST', agent: false }, (response) => {
          response.resume().on('end', () => done(response.statusCode ?? 0));
        })
          .on('error', fail)
          .end();
      }),
    async dispose() {
      for (const { pid } of agents) signal(pid, 'SIGKILL');
      if (kept) killKept(envoys());
      await eventually(() => envoys().length === 0).finally(() => {
        for (const pid of envoys()) signal(pid, 'SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      });
    },
  };
  return rig;
}

/** Returns the environment that names the watched certificates. */
export function certificateEnv(certDir: string): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ['SERVER', 'CLIENT'].flatMap((side) => [
      [`ISTIO_META_TLS_${side}_CERT_CHAIN`, join(certDir, 'cert-chain.pem')],
      [`ISTIO_META_TLS_${side}_KEY`, join(certDir, 'key.pem')],
      [`ISTIO_META_TLS_${side}_ROOT_CERT`, join(certDir, 'root-cert.pem')],
    ]),
  );
}

interface StartPlace {
  readonly output?: number | undefined;
  readonly cwd?: string | undefined;
  readonly wrap?: readonly string[];
  readonly program?: string | undefined;
  /** The command of another agent, which replaces our build. */
  readonly command?: readonly string[];
}

/** Starts the program. Its output goes to files below `folder`, unless `output` is set. */
export function startAgent(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { output, cwd, wrap = [], program: path, command }: StartPlace,
): RunningAgent {
  const run = mkdtempSync(join(folder, 'output-'));
  const [stdout, stderr] = [join(run, 'stdout'), join(run, 'stderr')];
  const descriptors = [output ?? openSync(stdout, 'a'), openSync(stderr, 'a')];
  const [file, ...given] = [
    ...wrap,
    ...(command ?? (path === undefined ? program : [process.execPath, path])),
    ...args,
  ] as [string, ...string[]];
  const child = spawn(file, given, {
    stdio: ['ignore', ...descriptors],
    cwd,
    env: { ...process.env, POD_NAME: 'pod', POD_NAMESPACE: 'ns', INSTANCE_IP: '10.1.2.3', ...env },
  });
  for (const descriptor of descriptors) if (descriptor !== output) closeSync(descriptor);
  const exit = new Promise<AgentExit>((done) =>
    child.once('exit', (code, signal) => done({ code, signal })),
  );
  let ended = false;
  void exit.then(() => (ended = true));

  const agent: RunningAgent = {
    pid: child.pid ?? 0,
    exit,
    output: () => (output === undefined ? readFileSync(stdout, 'utf8') : ''),
    errors: () => readFileSync(stderr, 'utf8'),
    log: () =>
      agent
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{"level"') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as LogLine),
    said: (event, epoch) =>
      eventually(() => {
        const logLine = agent
          .log()
          .find((line) => line.event === event && (epoch === undefined || line.epoch === epoch));
        if (logLine === undefined && ended)
          throw new Error(
            `the agent has ended without logging it: ${agent.output()}${agent.errors()}`,
          );
        return logLine;
      }).catch((error: unknown) => {
        throw new Error(
          `${event} (epoch ${String(epoch)}): ${String(error)}\n${agent.output()}${agent.errors()}`,
        );
      }),
    kill: (name) => child.kill(name),
  };
  return agent;
}

/** Returns the ids of the running processes that have `folder` in their command lines. */
export function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        read(`/proc/${pid}/cmdline`).includes(folder) &&
        !/^\d+ \(.*\) Z/.test(read(`/proc/${pid}/stat`)),
    );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Kills the Envoys that outlive their agent on purpose, and removes the files that they leave in
 * shared memory.
 */
function killKept(pids: readonly number[]): void {
  const files = sharedBy(pids);
  for (const pid of pids) signal(pid, 'SIGKILL');
  for (const file of files) rmSync(file, { force: true });
}

function sharedBy(pids: readonly number[]): readonly string[] {
  const baseIds = pids.flatMap(
    (pid) => /\0--base-id\0(\d+)\0/.exec(read(`/proc/${pid}/cmdline`))?.[1] ?? [],
  );
  return [...new Set(baseIds)].map((id) => sharedMemoryOf(Number(id)));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}
