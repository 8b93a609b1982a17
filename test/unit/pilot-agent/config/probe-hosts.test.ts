import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { catchError, firstValueFrom, map, type Observable, of } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import type { HttpProbe } from '../../../../src/pilot-agent/config/app-probes.ts';
import { askedOf } from '../../../../src/pilot-agent/config/application.ts';
import { environment } from '../../../../src/pilot-agent/config/environment.ts';
import { probeHosts } from '../../../../src/pilot-agent/config/probe-hosts.ts';
import { hostsOf, openSocket } from '../../../../src/shared/http/open-socket.ts';
import { probeGrpc } from '../../../../src/pilot-agent/status/probe/probe-grpc.ts';
import { probeHttp } from '../../../../src/pilot-agent/status/probe/probe-http.ts';

/** An address of this machine, but not localhost, in the place of the address of the pod. */
const pod = '127.0.0.3';
const variable = 'REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION';

describe('a probe that names no host', () => {
  it.each([
    { value: undefined, hosts: ['localhost', pod] },
    { value: 'false', hosts: [pod, 'localhost'] },
    { value: '0', hosts: [pod, 'localhost'] },
    { value: 'true', hosts: ['localhost'] },
    { value: 'T', hosts: ['localhost'] },
    { value: 'neither', hosts: ['localhost', pod] },
  ])('tries $hosts if the variable is $value', ({ value, hosts }) => {
    const { values } = environment({
      INSTANCE_IP: pod,
      ...(value !== undefined && { [variable]: value }),
    });
    expect(askedOf({ ...values, probes: new Map(), metricsTargets: [] }).probeHosts).toEqual(hosts);
  });

  it.each(['', 'pod.example', '10.0.0.1:80', '300.0.0.1'])(
    'does not try %j, which is not an address',
    (instanceIp) => {
      expect(probeHosts('pod first', instanceIp)).toEqual(['localhost']);
    },
  );

  it('tries an address of version 6 as it is', () => {
    expect(probeHosts('localhost first', 'fd00::1')).toEqual(['localhost', 'fd00::1']);
  });

  it.each(['127.0.0.9', 'app.example'])('one of %s goes there alone', (host) => {
    expect(hostsOf(host, ['localhost', pod])).toEqual([host]);
  });
});

describe('an application at one address', () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  async function listening(server: Server, host: string): Promise<number> {
    servers.push(server.listen(0, host));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  const http = (port: number, more: Partial<HttpProbe> = {}): HttpProbe => ({
    ...{
      kind: 'http',
      timeout: 5_000,
      host: 'localhost',
      port,
      path: '/',
      secure: false,
      headers: [],
      ...more,
    },
  });
  const none = { defaultValue: undefined };
  function orFailed<T>(answer$: Observable<T>): Observable<T | string> {
    return answer$.pipe(catchError(() => of('failed')));
  }

  const probes = {
    http: async (address: string, hosts: readonly string[]) => {
      const port = await listening(
        createServer((_, response) => response.end()),
        address,
      );
      return firstValueFrom(
        orFailed(probeHttp(http(port), hosts, {}).pipe(map(({ status }) => status))),
        none,
      );
    },
    tcp: async (address: string, hosts: readonly string[]) => {
      const port = await listening(createServer(), address);
      return firstValueFrom(orFailed(openSocket(hosts, port).pipe(map(() => 200))), none);
    },
    grpc: async (address: string, hosts: readonly string[]) => {
      const server = createHttp2Server();
      server.on('stream', (stream) => {
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc' },
          { waitForTrailers: true },
        );
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
      });
      const port = await listening(server, address);
      const probe = { kind: 'grpc', timeout: 5_000, port, service: '' } as const;
      return firstValueFrom(
        orFailed(probeGrpc(probe, hosts).pipe(map(({ status }) => status))),
        none,
      );
    },
  };

  it.each(
    (['http', 'tcp', 'grpc'] as const).flatMap((kind) => [
      { kind, address: pod, hosts: ['localhost', pod], outcome: 200 },
      { kind, address: pod, hosts: [pod, 'localhost'], outcome: 200 },
      { kind, address: pod, hosts: ['localhost'], outcome: 'failed' },
      { kind, address: '127.0.0.1', hosts: ['localhost', pod], outcome: 200 },
      { kind, address: '127.0.0.1', hosts: [pod, 'localhost'], outcome: 200 },
      { kind, address: '::1', hosts: [pod, 'localhost'], outcome: 200 },
    ]),
  )(
    'a probe over $kind of one at $address, tried at $hosts: $outcome',
    async ({ kind, address, hosts, outcome }) => {
      expect(await probes[kind](address, hosts)).toBe(outcome);
    },
  );

  it.each([
    { hosts: ['localhost', pod], address: '127.0.0.1', host: undefined, name: 'localhost' },
    { hosts: ['localhost', pod], address: pod, host: undefined, name: false },
    { hosts: [pod, 'localhost'], address: pod, host: undefined, name: false },
    { hosts: ['localhost'], address: '127.0.0.1', host: '10.0.0.1:443', name: false },
    { hosts: ['localhost'], address: '127.0.0.1', host: '[fd00::1]:443', name: false },
    { hosts: [pod], address: pod, host: 'app.example:443', name: 'app.example' },
  ])(
    'is asked over TLS for $name at $address, with the header Host $host',
    async ({ hosts, address, host, name }) => {
      const { key, certChain: cert } = await (await certificateAuthority()).issue();
      const names: unknown[] = [];
      const server = createTlsServer({ key, cert }, (socket) => {
        names.push(socket.servername);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
      const port = await listening(server, address);
      const probe = http(port, {
        secure: true,
        headers: host === undefined ? [] : [['Host', host]],
      });
      expect(await firstValueFrom(probeHttp(probe, hosts, {}), none)).toEqual({ status: 200 });
      expect(names).toEqual([name]);
    },
  );
});
