import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, map, takeUntil, timer, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { consulSource } from '../../../../../src/pilot-discovery/registry/consul/consul-source.ts';

describe('consulSource', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  it('is not lost if Consul answers with an index of 0', async () => {
    server = createServer((_, response) =>
      response.setHeader('x-consul-index', 0).end('{}'),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const events$ = consulSource({
      server: { address: `http://127.0.0.1:${port}` },
      datacenter: '',
      namespace: 'default',
      name: 'Consul',
    });
    const types$ = events$.pipe(
      map(({ type }) => type),
      takeUntil(timer(1_500)), // the second query comes after 1 s
      toArray(),
    );
    expect(await lastValueFrom(types$, { defaultValue: [] })).toEqual(['synced']);
  });
});
