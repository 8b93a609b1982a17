import * as grpc from '@grpc/grpc-js';
import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { grpcClient } from '../../../../src/shared/grpc/grpc-client.ts';
import { localhostTarget } from '../../../../src/shared/grpc/localhost-target.ts';
import { eventually } from '../../../support/eventually.ts';

const nameServer = vi.fn(() => new Promise<never>(() => undefined)); // it never answers
beforeEach(() => void vi.spyOn(dns.promises, 'lookup').mockImplementation(nameServer as never));
afterEach(() => void vi.restoreAllMocks());

async function listening(
  host: string,
): Promise<{ readonly port: number; readonly server: grpc.Server }> {
  const server = new grpc.Server();
  const port = await new Promise<number>((done, fail) =>
    server.bindAsync(host, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? done(bound) : fail(error),
    ),
  );
  return { port, server };
}

it.each(['127.0.0.1:0', '[::1]:0'])(
  'gRPC reaches localhost at %s without a look-up',
  async (host) => {
    const { port, server } = await listening(host);
    const client = grpcClient(grpc, `localhost:${port}`, grpc.credentials.createInsecure());
    await expect(
      new Promise<void>((done, fail) =>
        client.waitForReady(Date.now() + 3_000, (error) => (error ? fail(error) : done())),
      ),
    ).resolves.toBeUndefined();
    expect(nameServer).not.toHaveBeenCalled();
    client.close();
    server.forceShutdown();
  },
);

it('a server at localhost that ends each connection is asked with pauses between', async () => {
  const server = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1');
  const connected = vi.fn();
  server.on('connection', connected);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = grpcClient(grpc, `localhost:${port}`, grpc.credentials.createInsecure());
  await new Promise((done) => client.waitForReady(Date.now() + 2_500, done));
  expect(connected.mock.calls.length).toBeGreaterThan(1);
  expect(connected.mock.calls.length).toBeLessThan(10);
  client.close();
  server.close();
});

it('another name is looked up, as the test supposes', async () => {
  const client = grpcClient(grpc, 'istiod.example:15012', grpc.credentials.createInsecure());
  client.waitForReady(Date.now() + 3_000, () => undefined);
  await eventually(() => nameServer.mock.calls.length > 0);
  client.close();
});

it.each([
  ['localhost:15012', 'this-machine:localhost:15012'],
  ['LOCALHOST.:1', 'this-machine:LOCALHOST.:1'],
  ['127.0.0.1:15012', '127.0.0.1:15012'],
  ['[::1]:15012', '[::1]:15012'],
  ['istiod.istio-system.svc:15012', 'istiod.istio-system.svc:15012'],
  ['localhost.example:15012', 'localhost.example:15012'],
  ['unix:/run/XDS', 'unix:/run/XDS'],
])('%s is %s', (address, target) => {
  expect(localhostTarget(grpc.experimental, address)).toBe(target);
});
