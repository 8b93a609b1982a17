import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { controlPlane } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { backend, withEnvoy, withIstiod, withPilotDiscovery } from './one-envoy.ts';

if (controlPlane === undefined)
  leftOut('the requests of shapes through a real istiod', 'a program');

/** The ports of Envoy's listeners, and those of applications. */
interface Ports {
  readonly http: number;
  readonly second: number;
  readonly mysql: number;
  readonly onePort: number;
  readonly twoPort: number;
  /** The port of a server that sends first. */
  readonly greeter: number;
}

interface Row {
  readonly name: string;
  /** Returns the parts of a folder. */
  readonly yaml: (ports: Ports) => readonly string[];
  /** Resolves to the name of the server that answers. */
  readonly answer: (ports: Ports) => Promise<string>;
  readonly right: string;
  /** The answer with istiod 1.26, if it differs. `unsteady`: it varies. */
  readonly istiod?: string;
}

let created = 0;
function resource(kind: string, name: string, spec: string): string {
  created += 1;
  const creationTimestamp = new Date(Date.UTC(2024, 0, 1, 0, 0, created))
    .toISOString()
    .replace('.000', '');
  return `apiVersion: networking.istio.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: default, creationTimestamp: "${creationTimestamp}" }\nspec: ${spec}\n`;
}
const entry = (name: string, host: string, ports: string, more: string) =>
  resource(
    'ServiceEntry',
    name,
    `{ hosts: ['${host}'], location: MESH_EXTERNAL, ports: [${ports}], ${more} }`,
  );
const http = (number: number, name = 'http') =>
  `{ number: ${number}, name: ${name}, protocol: HTTP }`;
const endpointAt = (port: number, name = 'http', labels = '') =>
  `resolution: STATIC, endpoints: [{ address: 127.0.0.1, ports: { ${name}: ${port} }${labels} }]`;
const to = (host: string) => `route: [{ destination: { host: ${host} } }]`;

/** Resolves to the name of the server that answers, or to the status. */
async function who(
  port: number,
  host: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, body } = await ask(port, '/', { host, headers });
  return status === 200 ? (JSON.parse(body) as { readonly name: string }).name : String(status);
}

/** Resolves to what a server sends before it receives anything. */
async function greeting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const data = once(socket, 'data').then(([piece]) => String(piece));
  const nothing = new Promise<string>((done) => setTimeout(done, 10_000, 'nothing').unref());
  return Promise.race([data, nothing]).finally(() => socket.destroy());
}

const socket = join(tmpdir(), `pilot-discovery-${process.pid}.sock`);

const rows: readonly Row[] = [
  ...[
    ['other labels', 'sourceLabels: { app: other }'],
    ['another namespace', 'sourceNamespace: other'],
    ['a gateway', 'gateways: [front]'],
    ['another port', 'port: 1'],
  ].map(([whom = '', match = ''], index): Row => {
    const host = `m${index}.mesh`;
    return {
      name: `a VirtualService whose only match is for ${whom} leaves the default route`,
      yaml: ({ http: port, onePort, twoPort }) => [
        entry(`m${index}`, host, http(port), endpointAt(onePort)),
        entry(`m${index}-other`, `o${index}.mesh`, http(port), endpointAt(twoPort)),
        resource(
          'VirtualService',
          `m${index}`,
          `{ hosts: [${host}], gateways: [mesh, front], http: [{ match: [{ ${match} }], ${to(`o${index}.mesh`)} }] }`,
        ),
      ],
      answer: (ports) => who(ports.http, host),
      right: 'one',
    };
  }),
  ...['x', 'x.default'].map((host, index): Row => {
    return {
      name: `a host of another domain has no short name: ${host}`,
      yaml: ({ http: port, onePort, twoPort }) =>
        index > 0
          ? []
          : [
              entry('x-far', 'x.default.svc.other.domain', http(port), endpointAt(twoPort)),
              entry('x-near', 'x.default.svc.cluster.local', http(port), endpointAt(onePort)),
            ],
      answer: (ports) => who(ports.http, host),
      right: 'one',
    };
  }),
  {
    name: 'an endpoint at a socket is reached',
    yaml: ({ http: port }) => [
      entry(
        'socket',
        'socket.mesh',
        http(port),
        `resolution: STATIC, endpoints: [{ address: 'unix://${socket}' }]`,
      ),
    ],
    answer: (ports) => who(ports.http, 'socket.mesh'),
    right: 'socket',
  },
  {
    name: 'a field of a newer Istio costs nothing else of its resource',
    yaml: ({ http: port, onePort }) => [
      resource(
        'ServiceEntry',
        'newer',
        `{ hosts: [newer.mesh], location: MESH_EXTERNAL, ports: [${http(port)}], ${endpointAt(onePort)}, brandNew: { a: 1 } }`,
      ),
    ],
    answer: (ports) => who(ports.http, 'newer.mesh'),
    right: 'one',
  },
  {
    name: 'subsets of an external service are told by labels',
    yaml: ({ http: port, onePort, twoPort }) => [
      entry(
        'subsets',
        'subsets.mesh',
        http(port),
        `resolution: STATIC, endpoints: [{ address: 127.0.0.1, ports: { http: ${onePort} }, labels: { v: a } }, { address: 127.0.0.1, ports: { http: ${twoPort} }, labels: { v: b } }]`,
      ),
      resource(
        'DestinationRule',
        'subsets',
        '{ host: subsets.mesh, subsets: [{ name: b, labels: { v: b } }] }',
      ),
      resource(
        'VirtualService',
        'subsets',
        '{ hosts: [subsets.mesh], http: [{ route: [{ destination: { host: subsets.mesh, subset: b } }] }] }',
      ),
    ],
    answer: (ports) => who(ports.http, 'subsets.mesh'),
    right: 'two',
  },
  ...(['http', 'second'] as const).map((port, index): Row => {
    return {
      name: `two entries of a host whose ports have one name: the ${index === 0 ? 'first' : 'second'} port`,
      yaml: (ports) => [
        entry(
          `named-${index}`,
          'named.mesh',
          http(ports[port]),
          endpointAt(index === 0 ? ports.onePort : ports.twoPort),
        ),
      ],
      answer: (ports) => who(ports[port], 'named.mesh'),
      right: index === 0 ? 'one' : 'two',
      istiod: 'unsteady',
    };
  }),
  {
    name: 'a server that speaks first is heard, and the HTTP of its port is not served',
    yaml: ({ mysql, greeter, onePort }) => [
      entry(
        'mysql',
        'mysql.mesh',
        `{ number: ${mysql}, name: mysql, protocol: MySQL }`,
        endpointAt(greeter, 'mysql'),
      ),
      entry('beside', 'beside.mesh', http(mysql), endpointAt(onePort)),
    ],
    answer: (ports) => greeting(ports.mysql),
    right: 'I am first',
  },
  {
    name: 'a host may begin with a part of a name',
    yaml: ({ http: port, onePort }) => [
      entry('partial', '*-foo.example.com', http(port), endpointAt(onePort)),
    ],
    answer: (ports) => who(ports.http, 'a-foo.example.com'),
    right: 'one',
  },
  ...[
    ['without it', {}, 'one'],
    ['with it', { 'x-a': '1' }, 'two'],
  ].map((row, index): Row => {
    const [how, headers, right] = row as [string, Readonly<Record<string, string>>, string];
    return {
      name: `withoutHeaders with the regex * is about presence: ${how}`,
      yaml: ({ http: port, onePort, twoPort }) =>
        index > 0
          ? []
          : [
              entry('absent', 'absent.mesh', http(port), endpointAt(onePort)),
              entry('present', 'present.mesh', http(port), endpointAt(twoPort)),
              resource(
                'VirtualService',
                'absent',
                `{ hosts: [absent.mesh], http: [{ match: [{ withoutHeaders: { x-a: { regex: '*' } } }], ${to('absent.mesh')} }, { ${to('present.mesh')} }] }`,
              ),
            ],
      answer: (ports) => who(ports.http, 'absent.mesh', headers),
      right,
    };
  }),
];

/** Sends the requests through a real Envoy for each control plane, with one folder of all rows. */
describe.skipIf(controlPlane === undefined)('requests of the shapes that real folders have', () => {
  const servers: { close(): unknown }[] = [];
  const answers = { ours: [] as readonly string[], istiod: [] as readonly string[] };

  beforeAll(async () => {
    const [first, second] = [await backend('one'), await backend('two')];
    servers.push(first, second, await backend('socket', socket));
    const greeter = createServer(
      (socket) => void socket.on('error', () => undefined).write('I am first'),
    ).listen(0, '127.0.0.1');
    await once(greeter, 'listening');
    servers.push(greeter);
    const portOf = (server: Pick<Server, 'address'>) => (server.address() as AddressInfo).port;
    const [httpPort = 0, secondPort = 0, mysql = 0, admin = 0, xds = 0, debug = 0, monitoring = 0] =
      await freePorts(7);
    const ports: Ports = {
      http: httpPort,
      second: secondPort,
      mysql,
      onePort: portOf(first),
      twoPort: portOf(second),
      greeter: portOf(greeter),
    };
    const ready = entry('ready', 'ready.mesh', http(httpPort), endpointAt(ports.onePort));
    const yaml = [...rows.flatMap((row) => row.yaml(ports)), ready].join('---\n');
    const ask = () =>
      withEnvoy(xds, admin, async () => {
        await eventually(async () => (await who(httpPort, 'ready.mesh')) === 'one');
        return Promise.all(rows.map((row) => row.answer(ports)));
      });
    answers.ours = await withPilotDiscovery(yaml, [xds, debug, monitoring], ask);
    answers.istiod = await withIstiod(controlPlane ?? '', yaml, xds, ask);
  });
  afterAll(() => {
    for (const server of servers) server.close();
  });

  it.each(rows.map((row, index) => ({ ...row, index })))(
    '$name',
    ({ right, istiod = right, index }) => {
      expect(answers.ours[index]).toBe(right);
      if (istiod !== 'unsteady') expect(answers.istiod[index]).toBe(istiod);
    },
  );
});
