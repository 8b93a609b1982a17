import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { workloadAuthority } from '../support/workload-authority.ts';

// c-ares resolves every name in localhost to the loopback address, without a name server.
describe('a host with * and DYNAMIC_DNS', () => {
  const web = createServer(({ headers }, response) => response.end(headers.host));
  const tlsServer = createTlsServer((socket) => socket.end(String(socket.servername)));
  let rig: TwoSidecarsRig;
  let tlsPort = 0;

  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

  beforeAll(async () => {
    const authority = await workloadAuthority();
    const { chain, key } = await authority.issue({
      names: [{ type: 'dns', value: '*.localhost' }],
    });
    tlsServer.setSecureContext({ cert: chain, key });
    await Promise.all([
      once(web.listen(0, '127.0.0.1'), 'listening'),
      once(tlsServer.listen(0, '127.0.0.1'), 'listening'),
    ]);
    [tlsPort = 0] = await freePorts(1);
    rig = await twoSidecarsRig();
    rig.write(
      '50-anywhere.yaml',
      `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: anywhere, namespace: default }
spec:
  hosts: ['*.localhost']
  location: MESH_EXTERNAL
  resolution: DYNAMIC_DNS
  exportTo: [shop]
  ports:
    - { number: ${rig.ports.service}, name: http, protocol: HTTP }
    - { number: ${tlsPort}, name: tls, protocol: TLS, targetPort: ${portOf(tlsServer)} }
`,
    );
    rig.startDiscovery();
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(async () => {
    await rig.dispose();
    web.close().closeAllConnections();
    tlsServer.close();
  });

  it('is reached at the host and port of each request', async () => {
    for (const name of ['a', 'b.c']) {
      const host = `${name}.localhost:${portOf(web)}`;
      expect(await ask(rig.ports.service, '/', { host })).toMatchObject({
        status: 200,
        body: host,
      });
    }
  });

  it('is reached at the server name of each TLS connection', async () => {
    const answerFor = async (servername: string) => {
      const socket = connect({ port: tlsPort, servername, rejectUnauthorized: false });
      const pieces: Buffer[] = [];
      for await (const piece of socket) pieces.push(piece as Buffer);
      return Buffer.concat(pieces).toString();
    };
    for (const name of ['a.localhost', 'b.c.localhost']) expect(await answerFor(name)).toBe(name);
  });

  it('does not take a host outside of it', async () => {
    expect(
      (await ask(rig.ports.service, '/', { host: `127.0.0.1:${portOf(web)}` })).status,
    ).not.toBe(200);
  });
});
