import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { certificateAuthority } from '../../demo/certificates.ts';
import { ingressGateway } from '../../demo/ingress-gateway.ts';
import type { ProxyPorts } from '../../demo/mesh-agent.ts';
import { twoSidecars } from '../../demo/two-sidecars.ts';
import { backend } from '../differential/one-envoy.ts';
import { ask } from '../support/ask.ts';
import { makeIstiod } from '../support/e2e/istiod.ts';
import { program } from '../support/e2e/program.ts';
import { startRunning } from '../support/e2e/running.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import type { Asking, Listeners } from './ask-call.ts';
import { fixedResources, type StagePorts } from './fixed-resources.ts';

/** The control plane that configures the proxies. */
export type ControlPlane = 'pilot-discovery' | 'istiod';

/** Two real sidecars and a real gateway over a folder, with applications behind them. */
export interface CallsStage {
  readonly asking: Asking;
  readonly ports: StagePorts;
  /** Runs the control plane and the proxies with these rules, for as long as `work` takes. */
  over<T>(controlPlane: ControlPlane, rules: readonly string[], work: () => Promise<T>): Promise<T>;
  dispose(): Promise<void>;
}

const applications = ['a v1', 'a v2', 'b v1', 'b v2', 'c', 'echo v1', 'echo v2'] as const;

/** @param istiod the program that runs a real istiod */
export async function startCallsStage(istiod: string): Promise<CallsStage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-calls-'));
  const all = await freePorts(24);
  // A real istiod has the two ports after its own.
  const [xds = 0, http = 0, monitoring = 0, service = 0, secure = 0, other = 0, ...more] = all;
  const [
    proxy = 0,
    gateway = 0,
    https = 0,
    passing = 0,
    firstInbound = 0,
    secondInbound = 0,
    ...rest
  ] = more;
  const proxyPorts = (index: number): ProxyPorts => {
    const [admin = 0, status = 0, prometheus = 0, health = 0] = rest.slice(4 * index);
    return { admin, status, prometheus, health };
  };
  const sidecars = await twoSidecars(folder, {
    ...{ service, xds, http, monitoring, inbound: [firstInbound, secondInbound] },
    ...{ client: proxyPorts(0), echo: proxyPorts(1) },
  });
  const front = await ingressGateway(folder, sidecars, {
    xds,
    gateway: { ...proxyPorts(2), https },
  });
  const servers = await Promise.all(applications.map((name) => backend(name)));
  const { certChain, key } = await sidecars.ca.issue();
  const secureServers = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const server = createServer({ cert: certChain, key }, (_, response) => {
        response.setHeader('x-backend', name).end(name);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return server;
    }),
  );
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const socket = join(folder, 'egress.sock');
  const certificates = join(folder, 'certificates');
  for (const name of ['a', 'b']) {
    mkdirSync(join(certificates, name), { recursive: true });
    const issued = await sidecars.ca.issue();
    writeFileSync(join(certificates, name, 'chain.pem'), issued.certChain);
    writeFileSync(join(certificates, name, 'key.pem'), issued.key, { mode: 0o600 });
  }
  const clients = await certificateAuthority('clients');
  writeFileSync(join(certificates, 'clients.pem'), clients.rootCert);
  const [right, wrong] = await Promise.all(
    [clients, await certificateAuthority('others')].map(async (authority) => {
      const { certChain: cert, key: clientKey } = await authority.issue();
      return { cert, key: clientKey };
    }),
  );
  if (right === undefined || wrong === undefined) throw new Error('a client has no certificate');
  const stagePorts: StagePorts = {
    ...{
      service,
      secure,
      other,
      proxy,
      gateway,
      https,
      passing,
      inbound: [firstInbound, secondInbound],
    },
    applications: new Map(
      servers.map((server, index) => [applications[index] ?? '', portOf(server)]),
    ),
    secured: secureServers.map(portOf),
    ...{ socket, certificates },
  };
  const listeners: Listeners = {
    sidecar: service,
    'second port of the sidecar': other,
    gateway,
    'gateway by TLS': https,
    'HTTP proxy': proxy,
    'Unix socket': socket,
    'TLS of the sidecar': secure,
    'TLS of the gateway': passing,
  };
  for (const name of ['10-echo', '20-sidecar', '40-route', '50-gateway'])
    rmSync(join(sidecars.configDir, `${name}.yaml`));
  const answersOf = async (controlPlane: ControlPlane): Promise<string> => {
    const forAllPorts = [
      ask(proxy, `http://ready.mesh:${service}/`, { host: `ready.mesh:${service}` }),
      ask(socket, '/', { host: `ready.mesh:${service}` }),
    ];
    const answers = await Promise.all([
      ask(service, '/', { host: 'ready.mesh' }),
      ask(gateway, '/', { host: 'ready.example.com' }),
      ask(service, '/never', { host: 'ready-echo.mesh' }),
      ...(controlPlane === 'istiod' ? [] : forAllPorts),
    ]);
    return [...new Set(answers.map(({ status }) => status))].sort().join();
  };
  return {
    asking: { listeners, service, certificates: { right, wrong } },
    ports: stagePorts,
    async over(controlPlane, rules, work) {
      const text = [...fixedResources(stagePorts), ...rules].join('\n---\n');
      writeFileSync(join(sidecars.configDir, '60-calls.yaml'), text);
      const theirs = makeIstiod(istiod, xds);
      cpSync(sidecars.configDir, theirs.folder, { recursive: true });
      for (const name of ['client', 'echo', 'gateway'])
        rmSync(join(folder, name, 'run'), { recursive: true, force: true });
      rmSync(socket, { force: true });
      if (controlPlane === 'istiod') await theirs.start();
      const running = [
        ...(controlPlane === 'istiod'
          ? []
          : [
              startRunning(
                [process.execPath, resolve('dist/pilot-discovery.cjs')],
                sidecars.discovery,
              ),
            ]),
        ...[sidecars.agents.echo, sidecars.agents.client, front.agent].map((agent) =>
          startRunning(program, agent, ['--concurrency', '1']),
        ),
      ];
      try {
        await eventually(async () => (await answersOf(controlPlane)) === '299,403', { every: 100 });
        return await work();
      } finally {
        await Promise.all(running.map((each) => each.end('SIGTERM')));
        await theirs.dispose();
      }
    },
    async dispose() {
      for (const server of [...servers, ...secureServers]) server.close().closeAllConnections();
      await sidecars.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
