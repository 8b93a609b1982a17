import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { filter, firstValueFrom, lastValueFrom, map, NEVER } from 'rxjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import { istioAuthority } from '../../../../src/pilot-agent/secrets/ca/istio-authority.ts';
import { httpAnswer } from '../../../../src/shared/http/http-answer.ts';
import { kubeApi } from '../../../../src/shared/kube/kube-api.ts';
import { controlPlane } from '../../../../src/pilot-agent/xds-proxy/control-plane.ts';
import { type CaServer, startCaServer } from '../../../support/ca-server.ts';

const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
const exceptions = ['no_proxy', 'no_grpc_proxy', 'NO_PROXY'];

const none = { defaultValue: undefined };

/**
 * The clients by which the agent connects to others; each returns what the server at a port
 * answers.
 */
const clients: Readonly<
  Record<string, (ports: { readonly grpc: number; readonly http: number }) => Promise<unknown>>
> = {
  'the authority': async ({ grpc }) => {
    const address = { address: `127.0.0.1:${grpc}`, roots: undefined, serverName: undefined };
    const authority = istioAuthority({ ...address, client: undefined, clusterId: '' });
    return lastValueFrom(authority.reached$, none);
  },
  'the control plane': ({ grpc }) => {
    const event$ = controlPlane(
      { address: `localhost:${grpc}`, tls: undefined, clusterId: '' },
      'delta',
      NEVER,
    );
    const type$ = event$.pipe(
      map(({ type }) => type),
      filter((type) => type !== 'opened'),
    );
    return firstValueFrom(type$, none);
  },
  'the Kubernetes API': ({ http }) =>
    lastValueFrom(
      kubeApi(() => Promise.resolve({ server: `http://localhost:${http}` }), 'pilot-agent').get(
        '/',
      ),
      none,
    ),
  'an HTTP source, Consul, the metadata server, the token exchange': ({ http }) =>
    lastValueFrom(httpAnswer(`http://localhost:${http}/`), none),
};

describe('a proxy of the environment', () => {
  const http = createHttpServer((_, response) => response.end('{}'));
  let grpc: CaServer;
  let proxy: Server;
  let proxyConnections: number;

  beforeEach(async () => {
    proxyConnections = 0;
    proxy = createServer((socket) => {
      proxyConnections += 1;
      socket.resetAndDestroy();
    }).listen(0, '127.0.0.1');
    await Promise.all([once(proxy, 'listening'), once(http.listen(0, '127.0.0.1'), 'listening')]);
    grpc = await startCaServer(await certificateAuthority());
    for (const name of names)
      vi.stubEnv(name, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    for (const name of exceptions) vi.stubEnv(name, '');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  });
  afterEach(() => {
    proxy.close();
    http.close().closeAllConnections();
    grpc.close();
    vi.unstubAllEnvs();
  });

  it.each(Object.entries(clients))('is not used by the client of %s', async (_, ask) => {
    const ports = { grpc: grpc.port, http: (http.address() as AddressInfo).port };
    expect(await ask(ports)).toSatisfy(
      (answer: unknown) =>
        answer === true || answer === 'connected' || (answer as { ok?: boolean }).ok === true,
    );
    expect(proxyConnections).toBe(0);
  });

  it('is used by no client that is made elsewhere', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const clientFiles = files.filter((name) =>
      /new (?:grpc\.)?Client\(/.test(readFileSync(join('src', name), 'utf8')),
    );
    expect(clientFiles).toEqual(['shared/grpc/grpc-client.ts']);
  });
});
