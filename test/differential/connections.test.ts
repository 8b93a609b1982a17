import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely, createServer as createSecureServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateChain } from '../support/certificate-chain.ts';
import { controlPlane } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { withEnvoy, withIstiod, withPilotDiscovery } from './one-envoy.ts';

if (controlPlane === undefined) leftOut('connections through a real istiod', 'a program');

const resource = (kind: string, name: string, spec: string) =>
  `apiVersion: networking.istio.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: default }\nspec: ${spec}\n---\n`;
/** Returns a service with an endpoint for each version. */
const entry = (name: string, protocol: string, number: number, ports: readonly number[]) =>
  resource(
    'ServiceEntry',
    name,
    `{ hosts: [${name}.mesh], location: MESH_EXTERNAL, resolution: STATIC, ports: [{ number: ${number}, name: p, protocol: ${protocol} }], endpoints: [${ports.map((port, index) => `{ address: 127.0.0.1, ports: { p: ${port} }, labels: { version: v${index + 1} } }`).join()}] }`,
  );
const subsets = (name: string) =>
  resource(
    'DestinationRule',
    name,
    `{ host: ${name}.mesh, subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }] }`,
  );
const to = (name: string, subset: string, weight: number) =>
  `{ destination: { host: ${name}.mesh, subset: ${subset} }, weight: ${weight} }`;

/** Returns the version of the PROXY protocol with which a connection begins, and its client. */
function headerOf(first: Buffer): string {
  const text = first.toString('latin1');
  if (text.startsWith('\r\n\r\n\0\r\nQUIT\n\x21\x11'))
    return `V2 ${first.subarray(16, 20).join('.')}`;
  const [, client] = /^PROXY TCP4 (\S+) 127\.0\.0\.1 \d+ \d+\r\n/.exec(text) ?? [];
  return client === undefined ? 'none' : `V1 ${client}`;
}

/** The number of connections, which are opened one after the other. */
const count = 400;
/** The share of v1, in percent. */
const share = 25;

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe.skipIf(controlPlane === undefined)(
  'connections through an Envoy that lives from pilot-discovery, as one that lives from istiod',
  () => {
    const servers: Server[] = [];
    let [plain, secure, first, second, admin, xds, http, monitoring]: readonly number[] = [];
    let yaml = '';

    beforeAll(async () => {
      const { leaf, key } = await certificateChain();
      const names = ['one', 'two'];
      servers.push(
        ...names.map((name) => createServer((socket) => void socket.end(name))),
        ...names.map((name) =>
          createSecureServer({ cert: leaf, key }, (socket) => void socket.end(name)),
        ),
        createServer((socket) => void socket.once('data', (data) => socket.end(headerOf(data)))),
      );
      for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
      // A real istiod has the two ports after its own.
      [plain = 0, secure = 0, first = 0, second = 0, admin = 0, xds = 0, http = 0, monitoring = 0] =
        await freePorts(8);
      const ports = servers.map(portOf);
      yaml = [
        entry('plain', 'TCP', plain, ports.slice(0, 2)),
        subsets('plain'),
        entry('secure', 'TLS', secure, ports.slice(2, 4)),
        subsets('secure'),
        ...[
          ['first', 'V1', first],
          ['second', 'V2', second],
        ].flatMap(([name, version, port]) => [
          entry(String(name), 'TCP', Number(port), ports.slice(4)),
          resource(
            'DestinationRule',
            String(name),
            `{ host: ${name}.mesh, trafficPolicy: { proxyProtocol: { version: ${version} } } }`,
          ),
        ]),
        resource(
          'VirtualService',
          'plain',
          `{ hosts: [plain.mesh], tcp: [{ route: [${to('plain', 'v1', share)}, ${to('plain', 'v2', 100 - share)}] }] }`,
        ),
        resource(
          'VirtualService',
          'secure',
          `{ hosts: [secure.mesh, a.example.com, "*.b.example.com"], tls: [{ match: [{ sniHosts: [a.example.com] }], route: [${to('secure', 'v1', 100)}] }, { match: [{ sniHosts: [secure.mesh, "*.b.example.com"] }], route: [${to('secure', 'v2', 100)}] }] }`,
        ),
      ].join('');
    });
    afterAll(() => {
      for (const server of servers) server.close();
    });

    /** Resolves to the name of the server that answers; '' if none does. */
    const greeting = (): Promise<string> => text(connect(plain ?? 0, '127.0.0.1')).catch(() => '');
    /** Resolves to what a server receives first from a client that sends first. */
    const received = (port: number): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      socket.write('hello');
      return text(socket).catch(() => '');
    };
    const greetingOf = (servername: string): Promise<string> =>
      text(
        connectSecurely({
          host: '127.0.0.1',
          port: secure ?? 0,
          servername,
          rejectUnauthorized: false,
        }),
      ).catch(() => '');

    /**
     * Resolves to the servers that answer to names of TLS, and the number of plain connections to
     * v1.
     */
    const answers = () =>
      withEnvoy(xds ?? 0, admin ?? 0, async () => {
        await eventually(
          async () => (await greeting()) !== '' && (await greetingOf('secure.mesh')) !== '',
        );
        const byName: Record<string, string> = {};
        for (const name of ['a.example.com', 'x.b.example.com', 'secure.mesh', 'c.example.com'])
          byName[name] = await greetingOf(name);
        let ofOne = 0;
        for (let opened = 0; opened < count; opened += 1)
          if ((await greeting()) === 'one') ofOne += 1;
        const headers = [await received(first ?? 0), await received(second ?? 0)];
        return { byName, ofOne, headers };
      });

    it('go by the name that TLS asks for, and by weight, and begin with the address of the client', async () => {
      const ours = await withPilotDiscovery(yaml, [xds ?? 0, http ?? 0, monitoring ?? 0], answers);
      const theirs = await withIstiod(controlPlane ?? '', yaml, xds ?? 0, answers);
      const right = {
        'a.example.com': 'one',
        'x.b.example.com': 'two',
        'secure.mesh': 'two',
        'c.example.com': '',
      };
      expect(ours.byName).toEqual(right);
      expect(theirs.byName).toEqual(right);
      for (const { headers } of [ours, theirs])
        expect(headers).toEqual(['V1 127.0.0.1', 'V2 127.0.0.1']);
      const mean = (count * share) / 100;
      const deviation = Math.sqrt((mean * (100 - share)) / 100);
      for (const { ofOne } of [ours, theirs])
        expect(Math.abs(ofOne - mean)).toBeLessThan(4 * deviation);
    });
  },
);
