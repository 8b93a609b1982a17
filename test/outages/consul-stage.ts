import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { firstState, type Target } from '../edits/plan.ts';
import { startStage } from '../edits/stage.ts';
import type { Consul } from '../support/consul.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRelay } from '../support/relay.ts';
import { type Instance, startInstance } from './control-planes.ts';
import type { Mark, MarkedMesh } from './run-outages.ts';

/** A mesh whose control plane reads services from a real Consul, and rules from a folder. */
export interface ConsulStage extends MarkedMesh {
  /** The servers. The control plane reads from the first one. */
  readonly servers: readonly Consul[];
  /** Registers all services, as their agents do after Consul has lost them. */
  readonly register: () => Promise<void>;
  dispose(): Promise<void>;
}

/**
 * The loopback addresses of the applications. They share a port, and each one answers with its
 * status.
 */
const addresses = { web: '127.0.0.30', 418: '127.0.0.31', 429: '127.0.0.32' };
/** The number of instances of a service without clients. A loss of this many is held back. */
const crowd = 12;

/** @param tokenFile the file of the token that the control plane uses; none if left out */
export async function startConsulStage(
  servers: readonly Consul[],
  tokenFile?: string,
): Promise<ConsulStage> {
  const [first] = servers;
  if (first === undefined) throw new Error('there is no Consul');
  const [port = 0] = await freePorts(1);
  const applications = await Promise.all([
    application(addresses.web, port, 200),
    application(addresses[418], port, 418),
    application(addresses[429], port, 429),
  ]);
  let marked: Mark = 418;
  const put = (name: string, id: string, address: string) =>
    first.ask('PUT', 'agent/service/register', {
      ...{ ID: id, Name: name, Address: address, Port: port, Meta: { protocol: 'http' } },
    });
  const mark = async (next: Mark): Promise<void> => {
    marked = next;
    await put('mark', 'mark', addresses[next]);
  };
  const register = async (): Promise<void> => {
    await put('web', 'web', addresses.web);
    for (let id = 0; id < crowd; id++) await put('crowd', `crowd-${id}`, `10.9.0.${id + 1}`);
    await mark(marked);
  };
  await register();
  let instance: Instance | undefined;
  let front = makeRelay(0, 0);
  const stage = await startStage(firstState, async ({ configDir, discovery }) => {
    const flag = discovery.args.indexOf('--grpcAddr');
    writeFileSync(join(configDir, '90-consul.yaml'), routes);
    const gateway = join(configDir, '50-gateway.yaml');
    const hosts = readFileSync(gateway, 'utf8').replace(
      'hosts: [',
      `hosts: [${callable.join(', ')}, `,
    );
    writeFileSync(gateway, hosts);
    instance = await startInstance(discovery, [
      ...['--configDir', configDir, '--registries', 'Consul'],
      ...['--consulserverURL', first.address],
      ...(tokenFile === undefined ? [] : ['--consulTokenFile', tokenFile]),
    ]);
    front = makeRelay(Number(discovery.args[flag + 1]?.split(':')[1]), instance.xds);
    await front.open();
    return [instance];
  });
  return {
    ...{ stage, servers, register, mark },
    steady: [
      'gateway web.example.com',
      ...(['steady', 'echo', 'b'] as const).map((name): Target => `sidecar ${name}.mesh`),
      ...(['steady', 'echo', 'b'] as const).map((name): Target => `gateway ${name}.example.com`),
    ],
    markedTarget: 'gateway mark.example.com',
    instance() {
      if (instance === undefined) throw new Error('no control plane has been started');
      return instance;
    },
    async dispose() {
      await stage.dispose();
      await front.close();
      for (const server of applications) server.close().closeAllConnections();
    },
  };
}

async function application(address: string, port: number, status: number): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(status).end();
  });
  await once(server.listen(port, address), 'listening');
  return server;
}

/** The services that the gateway serves. */
const names = ['web', 'mark'] as const;
const callable = names.map((name) => `${name}.example.com`);
const routes = names
  .map(
    (name) => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: consul-${name}, namespace: shop }
spec:
  hosts: [${name}.example.com]
  gateways: [front]
  http: [{ route: [{ destination: { host: ${name}.service.consul } }] }]
`,
  )
  .join('---');
