import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { freePorts } from './free-ports.ts';

/** An instance of a service, with the fields of Consul's API. */
export interface Registration {
  readonly ID: string;
  readonly Name: string;
  readonly Address: string;
  readonly Port: number;
  readonly Meta: Readonly<Record<string, string>>;
}

/** A Consul in memory, with a catalog and blocking queries. */
export interface FakeConsul {
  readonly address: string;
  /** Registers an instance, or replaces the one with its ID. */
  register(registration: Registration): void;
  deregister(id: string): void;
  /** Breaks all connections, and refuses new ones until `start`. Its instances stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Starts one without services. It answers queries for the catalog and for the health of a service.
 */
export async function startFakeConsul(): Promise<FakeConsul> {
  const [port = 0] = await freePorts(1);
  const instances = new Map<string, Registration>();
  const waiting = new Set<() => void>();
  let index = 1;
  let server: Server | undefined;
  const changed = () => {
    index += 1;
    for (const answer of [...waiting]) answer();
  };
  const contentAt = (path: string): unknown => {
    const all = [...instances.values()];
    const [, service] = /^\/v1\/health\/service\/([^/]+)$/.exec(path) ?? [];
    if (path === '/v1/catalog/services')
      return Object.fromEntries(all.map(({ Name }) => [Name, []]));
    return all
      .filter(({ Name }) => Name === service)
      .map((registration) => ({
        Node: { Node: 'fake', Address: '127.0.0.1', Datacenter: 'dc1' },
        Service: registration,
        Checks: [],
      }));
  };
  const consul: FakeConsul = {
    address: `http://127.0.0.1:${port}`,
    register(registration) {
      instances.set(registration.ID, registration);
      changed();
    },
    deregister(id) {
      instances.delete(id);
      changed();
    },
    async start() {
      server = createServer((request, response) => {
        const url = new URL(request.url ?? '', consul.address);
        const answer = () => {
          waiting.delete(answer);
          response.setHeader('x-consul-index', index).end(JSON.stringify(contentAt(url.pathname)));
        };
        if (Number(url.searchParams.get('index') ?? 0) < index) {
          answer();
          return;
        }
        waiting.add(answer);
        const due = setTimeout(answer, Number.parseInt(url.searchParams.get('wait') ?? '0'));
        response.on('close', () => {
          clearTimeout(due);
          waiting.delete(answer);
        });
      });
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async stop() {
      if (server?.listening !== true) return;
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
  await consul.start();
  return consul;
}
