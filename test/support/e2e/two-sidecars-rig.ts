import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command, ProxyPorts } from '../../../demo/mesh-agent.ts';
import {
  addresses,
  type MeshPorts,
  type TwoSidecars,
  twoSidecars,
} from '../../../demo/two-sidecars.ts';
import { type Answer, ask } from '../ask.ts';
import { freePorts } from '../free-ports.ts';
import { program } from './program.ts';
import { type Running, startRunning } from './running.ts';

/** A real control plane over a folder of YAML, and two real sidecars. */
export interface TwoSidecarsRig {
  readonly folder: string;
  /** The commands that {@link TwoSidecarsRig.startAgents} runs. */
  readonly agents: TwoSidecars['agents'];
  readonly configDir: string;
  readonly ports: MeshPorts;
  /** Starts the control plane, or starts it again after its end. */
  startDiscovery(more?: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /**
   * Starts both agents. The client's agent uses this variant of xDS; the other agent uses `whole`.
   */
  startAgents(
    variant?: 'delta' | 'whole',
    clientEnv?: Readonly<Record<string, string>>,
  ): readonly Running[];
  /** Writes a file of the folder as an editor does: a new file replaces the old one. */
  write(name: string, text: string): void;
  read(name: string): string;
  /** Resolves to the answer of `/debug/NAME`. */
  debug<T>(name: string): Promise<T>;
  /** Resolves to the value of a row of the metrics; undefined if there is none. */
  metric(row: string): Promise<number | undefined>;
  /** Resolves to the status and body of the answer to a request for `echo.mesh`. */
  ask(path?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends such a request in plain text to the sidecar of `echo` itself. */
  askPlain(): Promise<Answer>;
  dispose(): Promise<void>;
}

export async function twoSidecarsRig(): Promise<TwoSidecarsRig> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
  const [service = 0, xds = 0, http = 0, monitoring = 0, first = 0, second = 0, ...rest] =
    await freePorts(14);
  const sidecar = (from: number): ProxyPorts => {
    const [admin = 0, status = 0, prometheus = 0, health = 0] = rest.slice(from, from + 4);
    return { admin, status, prometheus, health };
  };
  const ports: MeshPorts = {
    service,
    xds,
    http,
    monitoring,
    client: sidecar(0),
    echo: sidecar(4),
    inbound: [first, second],
  };
  const sidecars = await twoSidecars(folder, ports);
  const running: Running[] = [];

  function start(
    file: readonly [string, ...string[]],
    command: Command,
    more: readonly string[] = [],
  ): Running {
    const program = startRunning(file, command, more);
    running.push(program);
    return program;
  }

  return {
    ...{ folder, ports, agents: sidecars.agents },
    configDir: sidecars.configDir,
    startDiscovery: (more, env = {}) =>
      start(
        [process.execPath, resolve('dist/pilot-discovery.cjs')],
        { ...sidecars.discovery, env: { ...sidecars.discovery.env, ...env } },
        more,
      ),
    startAgents: (variant = 'delta', clientEnv = {}) => [
      start(program, sidecars.agents.echo),
      start(program, {
        ...sidecars.agents.client,
        env: {
          ...sidecars.agents.client.env,
          ISTIO_DELTA_XDS: String(variant === 'delta'),
          ...clientEnv,
        },
      }),
    ],
    write(name, text) {
      const path = join(sidecars.configDir, name);
      writeFileSync(`${path}~`, text);
      renameSync(`${path}~`, path);
    },
    read: (name) => readFileSync(join(sidecars.configDir, name), 'utf8'),
    async debug<T>(name: string) {
      const response = await fetch(`http://127.0.0.1:${ports.http}/debug/${name}`);
      return (await response.json()) as T;
    },
    async metric(row) {
      const text = await (await fetch(`http://127.0.0.1:${ports.monitoring}/metrics`)).text();
      const line = text.split('\n').find((textLine) => textLine.startsWith(`${row} `));
      return line === undefined ? undefined : Number(line.slice(row.length));
    },
    ask: (path = '/', headers = {}) => ask(ports.service, path, { host: 'echo.mesh', headers }),
    askPlain: () => ask(ports.inbound[0], '/', { host: 'echo.mesh', address: addresses.echo }),
    async dispose() {
      await Promise.all(running.map((program) => program.end('SIGTERM')));
      await sidecars.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
