import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { filter, firstValueFrom, lastValueFrom, map, NEVER } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { istioAuthority } from '../../../../src/pilot-agent/secrets/ca/istio-authority.ts';
import { reach } from '../../../../src/pilot-agent/check/endpoint.ts';
import { kubeApi } from '../../../../src/shared/kube/kube-api.ts';
import { settle } from '../../../../src/operators/settle.ts';
import { fetched } from '../../../../src/shared/http/fetched.ts';
import { controlPlane } from '../../../../src/pilot-agent/xds-proxy/control-plane.ts';
import { certificateChain } from '../../../support/certificate-chain.ts';

/** The ports at which a server answers over HTTP/1.1 and over gRPC, both with TLS. */
interface Ports {
  readonly http: number;
  readonly grpc: number;
}

const none = { defaultValue: undefined };

/** The clients of TLS in the agent; each returns whether it reaches a server with these roots. */
const clients: Readonly<Record<string, (ports: Ports, roots: string) => Promise<boolean>>> = {
  'the authority': async ({ grpc }, roots) => {
    const authority = istioAuthority({
      address: `127.0.0.1:${grpc}`,
      roots,
      serverName: 'localhost',
      client: undefined,
      clusterId: '',
    });
    const signed = await lastValueFrom(authority.sign('', '', 1_000), none);
    // The server was reached, and has no such service.
    return signed?.ok === false && signed.failure !== 'away';
  },
  'the control plane': ({ grpc }, roots) => {
    const tls = { roots, names: ['DNS:localhost'], pair: undefined, token: undefined };
    const event$ = controlPlane(
      { address: `127.0.0.1:${grpc}`, tls, clusterId: '' },
      'state-of-the-world',
      NEVER,
    );
    const isConnected$ = event$.pipe(
      filter(({ type }) => type !== 'opened'),
      map(({ type }) => type === 'connected'),
    );
    return firstValueFrom(isConnected$, { defaultValue: false });
  },
  'the Kubernetes API': async ({ http }, roots) => {
    const access = { server: `https://127.0.0.1:${http}`, ca: readFileSync(roots) };
    return (
      (await lastValueFrom(kubeApi(() => Promise.resolve(access), 'pilot-agent').get('/'), none))
        ?.ok === true
    );
  },
  'an HTTP source, and Consul': async ({ http }, caFile) => {
    const answer$ = fetched(`https://127.0.0.1:${http}/`, { caFile }, () => ({}), 1_000);
    return (await lastValueFrom(answer$.pipe(settle()), none))?.ok === true;
  },
  'pilot-agent check': async ({ grpc }, roots) => {
    const tls = { roots: readFileSync(roots), pair: undefined, serverName: 'localhost' };
    const reached = await lastValueFrom(reach({ host: '127.0.0.1', port: grpc, tls }), none);
    return reached !== undefined && 'shown' in reached && reached.shown.untrusted === undefined;
  },
};

const chain = await certificateChain();
/** A chain with the same names, and other keys. */
const stranger = await certificateChain();

interface Vouching {
  readonly what: string;
  readonly roots: string;
  /**
   * Whether the server is trusted if it shows its intermediate as well, and if it shows its own
   * certificate alone.
   */
  readonly trusted: readonly [withIntermediate: boolean, alone: boolean];
}

/** Roots and verdicts by the rules of Go: each certificate in a pool of roots is a trust anchor. */
const vouching: readonly Vouching[] = [
  { what: 'the root', roots: chain.root, trusted: [true, false] },
  { what: 'the intermediate that has issued it', roots: chain.intermediate, trusted: [true, true] },
  { what: 'the certificate of the server itself', roots: chain.leaf, trusted: [true, true] },
  {
    what: 'another root, and the intermediate',
    roots: stranger.root + chain.intermediate,
    trusted: [true, true],
  },
  { what: 'a root of the same name', roots: stranger.root, trusted: [false, false] },
  {
    what: 'an intermediate of the same name',
    roots: stranger.intermediate,
    trusted: [false, false],
  },
];

describe.each([
  { how: 'with its intermediate', shown: chain.leaf + chain.intermediate, column: 0 },
  { how: 'alone', shown: chain.leaf, column: 1 },
] as const)('the certificate of a server that shows it $how', ({ shown, column }) => {
  const folder = mkdtempSync(join(tmpdir(), 'anchors-'));
  const roots = join(folder, 'roots.pem');
  const http = createServer({ cert: shown, key: chain.key }, (_, response) => response.end('{}'));
  const grpc = new Server();
  let ports: Ports;

  beforeAll(async () => {
    const pair = { cert_chain: Buffer.from(shown), private_key: Buffer.from(chain.key) };
    const grpcPort = await promisify(grpc.bindAsync.bind(grpc))(
      '127.0.0.1:0',
      ServerCredentials.createSsl(null, [pair]),
    );
    await once(http.listen(0, '127.0.0.1'), 'listening');
    ports = { http: (http.address() as AddressInfo).port, grpc: grpcPort };
  });
  afterAll(() => {
    http.close().closeAllConnections();
    grpc.forceShutdown();
    rmSync(folder, { recursive: true });
  });

  describe.each(vouching)('$what vouches for it: $trusted', ({ roots: pem, trusted }) => {
    it.each(Object.entries(clients))('%s', async (_, reaches) => {
      writeFileSync(roots, pem);
      expect(await reaches(ports, roots)).toBe(trusted[column]);
    });
  });
});
