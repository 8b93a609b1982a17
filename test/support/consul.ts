import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.ts';
import { freePorts } from './free-ports.ts';

/** The script that prints the path of a program that is not part of the project. */
const get = resolve('../shared/peers/get');
/** Whether Consul can be had here. */
export const hasConsul = existsSync(get) && existsSync(resolve('../shared/peers/consul-1.14.xz'));

/** Returns the path of the program of Consul. */
export const consulProgram = (): string =>
  execFileSync(get, ['consul-1.14'], { encoding: 'utf8' }).trim();

/** The token of the administrator, if the server requires tokens. */
const management = '00000000-0000-0000-0000-000000000001';

/** A real Consul server. */
export interface Consul {
  readonly address: string;
  /** Sends a request to its API as the administrator; rejects unless the status is 2xx. */
  ask(method: 'GET' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>;
  /** Creates a token with these rules, and resolves to it. */
  token(rules: string): Promise<string>;
  /** Kills it. */
  stop(): Promise<void>;
  /** Starts it, always at the same address. Resolves when it knows a leader. */
  start(): Promise<void>;
  dispose(): Promise<void>;
}

interface Ports {
  readonly http: number;
  readonly server: number;
  readonly serf: number;
  /** The port for other datacenters; without it the server has no connection to others. */
  readonly wan?: number;
}

const portsOf = ([http = 0, server = 0, serf = 0]: readonly number[]): Ports => ({
  http,
  server,
  serf,
});

/**
 * Starts one server. Resolves when it has a leader.
 *
 * @param acl whether it requires tokens, and denies by default
 * @param keeps whether it keeps its data over `stop` and `start`
 */
export async function startConsul({ acl = false, keeps = false } = {}): Promise<Consul> {
  const acls = `acl { enabled = true default_policy = "deny" tokens { initial_management = "${management}" } }`;
  const consul = consulServer(portsOf(await freePorts(3)), {
    args: [...(keeps ? serverArgs(1) : ['-dev']), ...(acl ? ['-hcl', acls] : [])],
    token: acl ? management : undefined,
  });
  await consul.start();
  return consul;
}

/** Starts servers that elect a leader. Resolves when each knows the leader. */
export async function startConsulServers(count: number): Promise<readonly Consul[]> {
  const free = await freePorts(3 * count);
  const all = Array.from({ length: count }, (_, index) =>
    portsOf(free.slice(3 * index, 3 * index + 3)),
  );
  const join = all.flatMap(({ serf }) => ['-retry-join', `127.0.0.1:${serf}`]);
  return startEach(all, (index) => [...serverArgs(count), ...join, '-node', `server-${index}`]);
}

async function startEach(
  all: readonly Ports[],
  argsOf: (index: number) => readonly string[],
): Promise<readonly Consul[]> {
  const servers = all.map((ports, index) =>
    consulServer(ports, { args: argsOf(index), token: undefined }),
  );
  await Promise.all(servers.map((server) => server.start()));
  return servers;
}

/** Starts a server for each datacenter. Resolves when each knows all of them. */
export async function startConsulDatacenters(names: readonly string[]): Promise<readonly Consul[]> {
  const free = await freePorts(4 * names.length);
  const all = names.map((_, index) => {
    const ports = free.slice(4 * index, 4 * index + 4);
    return { ...portsOf(ports), wan: ports[3] ?? 0 };
  });
  const join = all.flatMap(({ wan }) => ['-retry-join-wan', `127.0.0.1:${wan}`]);
  const servers = await startEach(all, (index) => [
    ...[...serverArgs(1), ...join],
    ...['-datacenter', names[index] ?? ''],
  ]);
  for (const server of servers)
    await eventually(async () => {
      const datacenters = (await server.ask('GET', 'catalog/datacenters')) as readonly string[];
      return datacenters.length === names.length;
    });
  return servers;
}

const serverArgs = (count: number): readonly string[] => [
  ...['-server', '-bootstrap-expect', String(count), '-data-dir', 'data'],
  ...['-hcl', 'performance { raft_multiplier = 1 }'],
];

function consulServer(
  { http, server, serf, wan = -1 }: Ports,
  { args, token }: { readonly args: readonly string[]; readonly token: string | undefined },
): Consul {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-consul-'));
  const program = consulProgram();
  const address = `http://127.0.0.1:${http}`;
  const none = ['dns', 'grpc', 'grpc_tls'].map((name) => `${name} = -1`).join(' ');
  const serfs = `serf_lan = ${serf} serf_wan = ${wan}`;
  const ports = `ports { http = ${http} server = ${server} ${serfs} ${none} }`;
  let child: ChildProcess | undefined;

  const ask: Consul['ask'] = async (method, path, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${address}/v1/${path}`, {
      method,
      ...(body !== undefined && { body: text }),
      ...(token !== undefined && { headers: { 'x-consul-token': token } }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${answer}`);
    return answer === '' ? undefined : (JSON.parse(answer) as unknown);
  };
  const hasLeader = () =>
    ask('GET', 'status/leader').then(
      (leader) => leader !== '',
      () => false,
    );
  const consul: Consul = {
    address,
    ask,
    async token(rules) {
      const name = `policy-${Math.random().toString(36).slice(2)}`;
      await ask('PUT', 'acl/policy', { Name: name, Rules: rules });
      return (
        (await ask('PUT', 'acl/token', { Policies: [{ Name: name }] })) as { SecretID: string }
      ).SecretID;
    },
    async start() {
      const loopback = ['-bind', '127.0.0.1', '-client', '127.0.0.1'];
      child = spawn(program, ['agent', ...loopback, '-log-level', 'warn', '-hcl', ports, ...args], {
        stdio: 'ignore',
        cwd: folder,
      });
      await eventually(hasLeader);
    },
    async stop() {
      if (child?.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((done) => child?.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    },
    async dispose() {
      await consul.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return consul;
}
