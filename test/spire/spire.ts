import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';

/** An entry: a workload that SPIRE knows by its user, and the identity that it gets. */
export interface Entry {
  readonly id: string;
  readonly user: number;
  /** How long its certificates last, in seconds. */
  readonly lifetime: number;
}

/** A server and an agent of SPIRE on this machine. */
export interface Spire {
  readonly version: string;
  /** The workload socket of the agent. */
  readonly socket: string;
  /** The file of the roots. {@link Spire.writeRoots} writes it, as an operator does. */
  readonly rootsFile: string;
  /** Registers an entry, and returns its id. */
  register(entry: Entry): string;
  forget(entryName: string): void;
  /** Writes the roots that the server has now. */
  writeRoots(): void;
  /** Replaces the authority. Calls `between` after each of the four steps. */
  replaceAuthority(between: (what: string) => Promise<void>): Promise<void>;
  /** Starts the agent again. */
  startAgent(): Promise<void>;
  /** Ends a program at once, as the kernel does if memory is short. */
  kill(program: 'server' | 'agent'): Promise<void>;
  startServer(): Promise<void>;
  /** Writes the SVID of this user into a folder, as soon as there is one. */
  fetch(folder: string): Promise<void>;
  dispose(): Promise<void>;
}

export const trustDomain = 'cluster.local';
const node = `spiffe://${trustDomain}/node`;

/**
 * Starts the server and the agent. `programs` is the folder of `spire-server` and `spire-agent`.
 */
export async function startSpire(programs: string, folder: string): Promise<Spire> {
  const [port = 0] = await freePorts(1);
  const path = (name: string) => join(folder, name);
  const [socket, admin, rootsFile] = [path('agent/socket'), path('server.sock'), path('roots.pem')];
  for (const name of ['agent', 'server-data', 'agent-data']) mkdirSync(path(name));
  writeFileSync(path('server.conf'), serverConfig(folder, port, admin));
  writeFileSync(path('agent.conf'), agentConfig(folder, port, socket));
  const program = (name: string) => join(programs, name);
  const start = (name: 'spire-server' | 'spire-agent', ...args: readonly string[]) => {
    const log = openSync(path(`${name}.log`), 'a');
    const child = spawn(program(name), ['run', ...args], { stdio: ['ignore', log, log] });
    closeSync(log);
    return child;
  };
  const administer = (...args: readonly string[]) =>
    execFileSync(program('spire-server'), [...args, '-socketPath', admin], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const answers = (run: () => unknown) => () => {
    try {
      run();
      return true;
    } catch {
      return false;
    }
  };
  const children = new Map<'server' | 'agent', ChildProcess>();
  const startServer = async (): Promise<void> => {
    children.set('server', start('spire-server', '-config', path('server.conf')));
    await eventually(
      answers(() => administer('healthcheck')),
      { within: 60_000, every: 200 },
    );
  };
  const startAgent = async (...more: readonly string[]): Promise<void> => {
    children.set('agent', start('spire-agent', '-config', path('agent.conf'), ...more));
    const check = () =>
      execFileSync(program('spire-agent'), ['healthcheck', '-socketPath', socket], {
        stdio: 'ignore',
      });
    await eventually(answers(check), { within: 60_000, every: 200 });
  };
  const kill = async (name: 'server' | 'agent'): Promise<void> => {
    const child = children.get(name);
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const authority = (...args: readonly string[]) => administer('localauthority', 'x509', ...args);
  const idIn = (text: string, title: string): string =>
    new RegExp(`${title}[^]*?Authority ID: (\\w+)`).exec(text)?.[1] ?? '';

  await startServer();
  const token = /Token: (\S+)/.exec(administer('token', 'generate', '-spiffeID', node))?.[1] ?? '';
  await startAgent('-joinToken', token);
  return {
    version: versionOf(program('spire-server')),
    ...{ socket, rootsFile, startServer, startAgent, kill },
    register({ id, user, lifetime }) {
      const text = administer(
        ...['entry', 'create', '-parentID', node, '-spiffeID', id],
        ...['-selector', `unix:uid:${user}`, '-x509SVIDTTL', String(lifetime)],
      );
      return /Entry ID\s*: (\S+)/.exec(text)?.[1] ?? '';
    },
    forget: (entryName) => void administer('entry', 'delete', '-entryID', entryName),
    writeRoots() {
      writeFileSync(`${rootsFile}~`, administer('bundle', 'show'));
      renameSync(`${rootsFile}~`, rootsFile);
    },
    async replaceAuthority(between) {
      const before = idIn(authority('show'), 'Active');
      const next = idIn(authority('prepare'), 'Prepared');
      await between('prepared');
      authority('activate', '-authorityID', next);
      await between('active');
      authority('taint', '-authorityID', before);
      await between('the old one is tainted');
      authority('revoke', '-authorityID', before);
      await between('the old one is gone');
    },
    async fetch(place) {
      mkdirSync(place, { recursive: true });
      const args = ['api', 'fetch', 'x509', '-silent', '-socketPath', socket, '-write', place];
      const run = () => execFileSync(program('spire-agent'), args, { stdio: 'ignore' });
      await eventually(answers(run), { within: 60_000, every: 500 });
    },
    async dispose() {
      await kill('agent');
      await kill('server');
    },
  };
}

/** Returns the version of a program. SPIRE writes it to the error stream. */
function versionOf(program: string): string {
  const { stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? '';
}

const serverConfig = (folder: string, port: number, admin: string) => `
server {
  bind_address = "127.0.0.1"
  bind_port = "${port}"
  socket_path = "${admin}"
  trust_domain = "${trustDomain}"
  data_dir = "${folder}/server-data"
  log_level = "INFO"
  ca_ttl = "1h"
  default_x509_svid_ttl = "5m"
}
plugins {
  DataStore "sql" {
    plugin_data { database_type = "sqlite3" connection_string = "${folder}/server-data/datastore.sqlite3" }
  }
  NodeAttestor "join_token" { plugin_data {} }
  KeyManager "disk" { plugin_data { keys_path = "${folder}/server-data/keys.json" } }
}
`;

const agentConfig = (folder: string, port: number, socket: string) => `
agent {
  data_dir = "${folder}/agent-data"
  log_level = "INFO"
  server_address = "127.0.0.1"
  server_port = "${port}"
  socket_path = "${socket}"
  insecure_bootstrap = true
  trust_domain = "${trustDomain}"
  sds {
    default_svid_name = "default"
    default_bundle_name = "null"
    default_all_bundles_name = "ROOTCA"
  }
  experimental { sync_interval = "1s" }
}
plugins {
  NodeAttestor "join_token" { plugin_data {} }
  KeyManager "disk" { plugin_data { directory = "${folder}/agent-data" } }
  WorkloadAttestor "unix" { plugin_data {} }
}
`;
