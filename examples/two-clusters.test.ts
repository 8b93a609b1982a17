import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { filter, firstValueFrom, map, switchMap } from 'rxjs';
import { twoClusters } from './two-clusters.ts';

/** A server that answers each request with the Secret, as the API of a cluster does. */
async function cluster(certificate: string): Promise<Server> {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ data: { 'tls.crt': certificate } })),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function end(server: Server): void {
  server.closeAllConnections();
  server.close();
}

void test('the gateway has the certificate of the second cluster while the first is away', async () => {
  const servers = await Promise.all([cluster('of the first'), cluster('of the second')]);
  const [first, second] = servers;
  const [one = '', two = ''] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
  const { changes$, reading$ } = twoClusters(one, two, 50);
  const said$ = changes$.pipe(
    switchMap(() => reading$),
    map(({ config = [] }) =>
      config
        .map(
          ({ source, content }) =>
            `${source}: ${content === undefined ? 'nothing' : JSON.stringify(content)}`,
        )
        .join(', '),
    ),
  );
  const says = (...words: readonly string[]) =>
    firstValueFrom(said$.pipe(filter((said) => words.every((word) => said.includes(word)))), {
      defaultValue: '',
    });
  await says(
    'east: {"tls.crt":"of the first"}',
    'west: {"tls.crt":"of the second"}',
    'gateway: {"tls.crt":"of the first"}',
  );
  end(first);
  assert.match(await says('east: nothing', 'gateway: {'), /gateway: {"tls\.crt":"of the second"}/);
  end(second);
});
