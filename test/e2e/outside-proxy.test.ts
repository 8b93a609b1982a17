import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { certificateRequest } from '../../src/pilot-agent/secrets/ca/certificate-request.ts';
import { clearedAfter } from '../support/cleared-after.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRig } from '../support/e2e/rig.ts';

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** The ways in which a proxy refuses. */
const refusals = {
  '403 and FIN': (socket: Socket) =>
    void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
  RST: (socket: Socket) => void socket.resetAndDestroy(),
};

it('a proxy is asked for what is outside of the pod alone, and may refuse at any time', () =>
  clearedAfter(async (clear) => {
    const rig = await makeRig();
    clear(() => rig.dispose());
    const { csr, key } = await certificateRequest('config.example', {
      algorithm: 'ECDSA',
      pkcs8: true,
    });
    const { certificate } = await rig.ca.sign(csr);
    let value = 'first';
    const origin = createHttpsServer({ key, cert: certificate }, (_, response) =>
      response.end(JSON.stringify({ owner: value })),
    );
    const sockets = new Set<Socket>();
    let refusal: keyof typeof refusals | undefined;
    const requestLines: string[] = [];
    const proxy = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', (head: Buffer) => {
        requestLines.push(head.toString('latin1').split('\r\n', 1)[0] ?? '');
        if (refusal !== undefined) {
          refusals[refusal](socket);
          return;
        }
        const upstream = connect(portOf(origin), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          upstream.pipe(socket).pipe(upstream);
        });
        sockets.add(upstream.on('error', () => undefined));
      });
    });
    // The proxy of the environment refuses each connection, and should receive none.
    let askedOfEnvironment = 0;
    const ofEnvironment = createServer((socket) => {
      askedOfEnvironment += 1;
      socket.resetAndDestroy();
    });
    const application = createHttpsServer({ key, cert: certificate }, (_, response) =>
      response.end(),
    );
    for (const server of [origin, proxy, ofEnvironment, application]) {
      clear(() => server.close());
      await once(server.listen(0, '127.0.0.1'), 'listening');
    }
    clear(() => sockets.forEach((socket) => socket.destroy()));
    const file = join(rig.folder, 'agent.yaml');
    const caFile = join(rig.folder, 'root.pem');
    writeFileSync(caFile, rig.ca.rootCert);
    writeFileSync(
      file,
      JSON.stringify({
        sources: [
          {
            kind: 'http',
            name: 'far',
            as: 'merge',
            at: 'node.metadata',
            url: 'https://config.example/metadata',
            every: '200ms',
            timeout: '5s',
            caFile,
          },
        ],
      }),
    );
    const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [
      name,
      name.toUpperCase(),
    ]);
    const agent = rig.start(
      ['--config', file, '--httpProxy', `http://127.0.0.1:${portOf(proxy)}`],
      {
        env: {
          ...Object.fromEntries(
            names.map((name) => [name, `http://127.0.0.1:${portOf(ofEnvironment)}`]),
          ),
          NODE_USE_ENV_PROXY: '1',
          ISTIO_KUBE_APP_PROBERS: JSON.stringify({
            '/app-health/a/readyz': { httpGet: { port: portOf(application), scheme: 'HTTPS' } },
          }),
        },
      },
    );
    await agent.said('epoch.live', 0);
    expect(requestLines[0]).toBe('CONNECT config.example:443 HTTP/1.1');

    for (refusal of ['403 and FIN', 'RST'] as const) {
      const before = requestLines.length;
      await eventually(() => requestLines.length > before);
      expect((await rig.ready()).status).toBe(200);
    }
    const { reason } = await agent.said('source.unreadable');
    expect(reason).toMatch(
      /^https:\/\/config\.example\/metadata: the proxy 127\.0\.0\.1:\d+: it answers CONNECT with 403$/,
    );
    expect(await probe(rig.ports.status)).toBe(200);
    refusal = undefined;
    value = 'second';
    await agent.said('epoch.live', 1);
    refusal = 'RST';
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(askedOfEnvironment).toBe(0);
    expect(new Set(requestLines)).toEqual(new Set(['CONNECT config.example:443 HTTP/1.1']));
    expect(agent.log().filter(({ event }) => event === 'agent.bug')).toEqual([]);
  }));

it('the token server asks Google through the proxy', () =>
  clearedAfter(async (clear) => {
    const rig = await makeRig();
    clear(() => rig.dispose());
    const answers = {
      'securetoken.googleapis.com': { access_token: 'federated', expires_in: 60 },
      'iamcredentials.googleapis.com': { accessToken: 'token', expireTime: '2999-01-01T00:00:00Z' },
    };
    const requests: string[] = [];
    const origins = new Map<string, Server>();
    for (const [host, answer] of Object.entries(answers)) {
      const { csr, key } = await certificateRequest(host, { algorithm: 'ECDSA', pkcs8: true });
      const origin = createHttpsServer(
        { key, cert: (await rig.ca.sign(csr)).certificate },
        ({ url, headers }, response) => {
          requests.push(`${headers.host}${url} ${headers.authorization}`);
          response.end(JSON.stringify(answer));
        },
      );
      origins.set(`${host}:443`, origin);
    }
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', (head: Buffer) => {
        const target = head.toString('latin1').split(' ')[1] ?? '';
        requests.push(target);
        const origin = origins.get(target);
        if (origin === undefined) return void socket.destroy();
        const upstream = connect(portOf(origin), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          upstream.pipe(socket).pipe(upstream);
        });
        sockets.add(upstream.on('error', () => undefined));
      });
    });
    for (const server of [...origins.values(), proxy]) {
      clear(() => server.close());
      await once(server.listen(0, '127.0.0.1'), 'listening');
    }
    clear(() => sockets.forEach((socket) => socket.destroy()));
    const [port = 0] = await freePorts(1);
    const root = join(rig.folder, 'root.pem');
    writeFileSync(root, rig.ca.rootCert);
    const agent = rig.start(
      ['--stsPort', String(port), '--httpProxy', `http://127.0.0.1:${portOf(proxy)}`],
      {
        env: {
          GCP_METADATA: 'project|123|cluster|zone',
          GKE_CLUSTER_URL: 'https://c',
          NODE_EXTRA_CA_CERTS: root,
        },
      },
    );
    await agent.said('sts.listening');
    const given = await fetch(`http://127.0.0.1:${port}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: 'subject',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        scope: 'scope',
      }).toString(),
    });
    expect(await given.json()).toMatchObject({ access_token: 'token' });
    expect(requests).toEqual([
      'securetoken.googleapis.com:443',
      'securetoken.googleapis.com/v1/identitybindingtoken undefined',
      'iamcredentials.googleapis.com:443',
      expect.stringMatching(
        /^iamcredentials\.googleapis\.com\/v1\/projects\/-\/serviceAccounts\/.* Bearer federated$/,
      ),
    ]);
  }));

async function probe(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/app-health/a/readyz`)).status;
}
