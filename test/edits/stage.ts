import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ingressGateway } from '../../demo/ingress-gateway.ts';
import type { ProxyPorts } from '../../demo/mesh-agent.ts';
import { type TwoSidecars, twoSidecars } from '../../demo/two-sidecars.ts';
import { program } from '../support/e2e/program.ts';
import { type Running, startRunning } from '../support/e2e/running.ts';
import { freePorts } from '../support/free-ports.ts';
import { filesOf } from './folder.ts';
import type { Door } from './client.ts';
import type { MeshState, Target } from './plan.ts';

/** A real control plane, two real sidecars and a real gateway over a folder. */
export interface Stage {
  readonly doorOf: (target: Target) => Door;
  /** Returns the files of a state by name, without those of the two sidecars. */
  readonly filesOf: (state: MeshState) => ReadonlyMap<string, string>;
  /** Writes the files of a state, each by a rename, and removes the files that the state lacks. */
  write(state: MeshState): void;
  /** Gives the gateway another certificate, and returns its serial number. */
  rotate(): Promise<string>;
  /**
   * Returns a function that lists the warnings and errors that all programs log from now on, and
   * the starts of Envoys.
   */
  watchLogs(): () => readonly string[];
  dispose(): Promise<void>;
}

/**
 * The duration of a drain, in s. Until it ends, an old connection has the filters from before an
 * edit.
 */
export const drainSeconds = 4;

export const discoveryProgram = [process.execPath, resolve('dist/pilot-discovery.cjs')] as const;

const troublesome = new Set(['warn', 'error', 'fatal']);

/** Starts the programs that serve the files of the mesh. */
type StartControl = (sidecars: TwoSidecars) => Promise<readonly Running[]>;

const overFolder: StartControl = ({ discovery }) =>
  Promise.resolve([startRunning(discoveryProgram, discovery)]);

/** @param startControl starts the control plane; if left out, one starts over the folder */
export async function startStage(
  first: MeshState,
  startControl: StartControl = overFolder,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-edits-'));
  const ports = await freePorts(20);
  const [
    service = 0,
    xds = 0,
    http = 0,
    monitoring = 0,
    gateway = 0,
    firstInbound = 0,
    secondInbound = 0,
  ] = ports;
  const proxyPorts = (from: number): ProxyPorts => {
    const [admin = 0, status = 0, prometheus = 0, health = 0] = ports.slice(from, from + 4);
    return { admin, status, prometheus, health };
  };
  const https = ports[19] ?? 0;
  const application = createServer({ keepAliveTimeout: 60_000 }, (_, response) => {
    response.end('ok');
  });
  await once(application.listen(0, '127.0.0.1'), 'listening');
  const sidecars = await twoSidecars(folder, {
    ...{ service, xds, http, monitoring, inbound: [firstInbound, secondInbound] },
    client: proxyPorts(7),
    echo: proxyPorts(11),
  });
  const front = await ingressGateway(folder, sidecars, {
    xds,
    gateway: { ...proxyPorts(15), https },
  });
  const root = readFileSync(front.root, 'utf8');
  const folderPorts = {
    service,
    gateway,
    https,
    application: (application.address() as AddressInfo).port,
  };
  let written: ReadonlyMap<string, string> = new Map();
  const write = (state: MeshState): void => {
    const files = filesOf(state, folderPorts);
    for (const [name, text] of files) {
      if (written.get(name) === text) continue;
      const path = join(sidecars.configDir, name);
      writeFileSync(`${path}~`, text);
      renameSync(`${path}~`, path);
    }
    for (const name of written.keys()) if (!files.has(name)) rmSync(join(sidecars.configDir, name));
    written = files;
  };
  write(first);
  const drain = [
    '--drainDuration',
    `${String(drainSeconds)}s`,
    '--parentShutdownDuration',
    `${String(2 * drainSeconds)}s`,
    '--concurrency',
    '1',
  ];
  const running: readonly Running[] = [
    ...(await startControl(sidecars)),
    ...[sidecars.agents.echo, sidecars.agents.client, front.agent].map((agent) =>
      startRunning(program, agent, drain),
    ),
  ];
  return {
    doorOf(target) {
      if (target.startsWith('HTTPS')) return { port: https, root };
      return { port: target.startsWith('gateway') ? gateway : service, root: undefined };
    },
    filesOf: (state) => filesOf(state, folderPorts),
    write,
    async rotate() {
      const { certChain, key, serial } = await sidecars.ca.issue();
      const secret = join(folder, 'gateway', 'secrets', 'front');
      for (const [name, text] of [
        ['tls.key', key],
        ['tls.crt', certChain],
      ] as const) {
        writeFileSync(join(secret, `${name}~`), text, { mode: 0o600 });
        renameSync(join(secret, `${name}~`), join(secret, name));
      }
      return serial;
    },
    watchLogs() {
      const starts = running.map(({ lines }) => lines.length);
      return () =>
        running.flatMap(({ lines }, index) =>
          lines
            .slice(starts[index])
            .filter(({ level, event }) => troublesome.has(level) || event === 'epoch.started')
            .map(({ level, event, msg }) => `${level} ${event ?? ''}: ${msg}`),
        );
    },
    async dispose() {
      await Promise.all(running.map((each) => each.end('SIGTERM')));
      application.close().closeAllConnections();
      await sidecars.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
