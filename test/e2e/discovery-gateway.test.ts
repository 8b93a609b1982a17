import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, request } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
} from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import { program } from '../support/e2e/program.ts';
import { type Running, startRunning } from '../support/e2e/running.ts';

/**
 * The answer that a client of HTTPS receives, and the serial of the certificate that the server
 * sent.
 */
interface Answered {
  readonly status: number;
  readonly body: string;
  readonly serial: string;
}

/**
 * Sends a request over TLS to a name. Never rejects: if there is no answer, the status is 0 and the
 * body is the reason.
 */
function askSecure(
  port: number,
  servername: string,
  ca: string,
  client?: Issued,
): Promise<Answered> {
  return new Promise((done) => {
    const clientRequest = request(
      {
        host: '127.0.0.1',
        port,
        servername,
        ca,
        ...(client !== undefined && { cert: client.certChain, key: client.key }),
        headers: { host: servername },
        checkServerIdentity: () => undefined,
        agent: false,
        timeout: 30_000,
      },
      (response) => {
        const { socket } = response;
        const serial =
          socket instanceof TLSSocket ? socket.getPeerCertificate().serialNumber.toLowerCase() : '';
        void text(response).then((body) =>
          done({ status: response.statusCode ?? 0, body, serial }),
        );
      },
    );
    clientRequest
      .on('error', ({ message }) => done({ status: 0, body: message, serial: '' }))
      .on('timeout', () => clientRequest.destroy(new Error('no answer')))
      .end();
  });
}

/** Resolves to what a TCP server sends until it closes, or to the error. */
const greeting = async (port: number): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  return text(socket).catch((error: unknown) => String(error));
};

const portOf = (server: Pick<Server, 'address'>) => (server.address() as AddressInfo).port;
const number = (serial: string) => serial.toLowerCase().replace(/^0+/, '');

describe('a real gateway under the agent, with the control plane', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-gateway-'));
  const running: Running[] = [];
  const servers: { readonly close: () => void }[] = [];
  let [http, https, passed, tcp]: readonly number[] = [];
  let [ca, others]: readonly CertificateAuthority[] = [];
  let shop: Issued;
  let backend: Issued;

  const write = (name: string, yaml: string): void => {
    const path = join(folder, 'config', name);
    writeFileSync(`${path}~`, yaml);
    renameSync(`${path}~`, path);
  };
  const writeSecret = (name: string, { certChain, key }: Issued, root?: string): void => {
    const secretFolder = join(folder, 'secrets', name);
    mkdirSync(secretFolder, { recursive: true });
    writeFileSync(join(secretFolder, 'tls.crt'), certChain);
    writeFileSync(join(secretFolder, 'tls.key'), key);
    if (root !== undefined) writeFileSync(join(secretFolder, 'ca.crt'), root);
  };
  const server = (port: number, name: string, protocol: string, hosts: string, tls = '') =>
    `{ port: { number: ${port}, name: ${name}, protocol: ${protocol} }, hosts: [${hosts}]${tls === '' ? '' : `, tls: { ${tls} }`} }`;
  const gateway = (...more: readonly string[]) => `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: default }
spec:
  selector: { istio: ingressgateway }
  servers:
    - ${server(http ?? 0, 'http', 'HTTP', 'shop.example.com')}
    - ${server(http ?? 0, 'http-redirect', 'HTTP', 'secure.example.com', 'httpsRedirect: true')}
    - ${server(https ?? 0, 'https', 'HTTPS', 'secure.example.com', 'mode: SIMPLE, credentialName: shop')}
    - ${server(https ?? 0, 'mutual', 'HTTPS', 'mutual.example.com', 'mode: MUTUAL, credentialName: shop')}
    - ${server(passed ?? 0, 'tls', 'TLS', "'*.example.com'", 'mode: PASSTHROUGH')}
    - ${server(tcp ?? 0, 'tcp', 'TCP', "'*'")}
${more.map((serverText) => `    - ${serverText}\n`).join('')}`;

  beforeAll(async () => {
    [ca, others] = await Promise.all([certificateAuthority(), certificateAuthority('another')]);
    [shop, backend] = await Promise.all([ca.issue(), ca.issue()]);
    const application = createServer(
      ({ headers }, response) => void response.end(`${headers.host ?? ''} plain`),
    );
    const secure = createSecureServer(
      { cert: backend.certChain, key: backend.key },
      (_, response) => void response.end('passed on'),
    );
    const greeter = createTcpServer((socket) => void socket.end('hello'));
    for (const applicationServer of [application, secure, greeter]) {
      servers.push(applicationServer);
      await once(applicationServer.listen(0, '127.0.0.1'), 'listening');
    }
    const [xds = 0, debug = 0, monitoring = 0, admin = 0, status = 0, prometheus = 0, ...rest] =
      await freePorts(11);
    const [health = 0, ...listened] = rest;
    [http, https, passed, tcp] = listened;
    mkdirSync(join(folder, 'config'), { recursive: true });
    const targets = [
      ['plain', 'HTTP', portOf(application)],
      ['secure', 'TLS', portOf(secure)],
      ['greeter', 'TCP', portOf(greeter)],
    ] as const;
    const services = targets.map(
      ([name, protocol, port]) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  resolution: STATIC
  ports: [{ number: 80, name: p, protocol: ${protocol} }]
  endpoints: [{ address: 127.0.0.1, ports: { p: ${port} } }]
`,
    );
    write('10-services.yaml', services.join('---'));
    write('20-gateway.yaml', gateway());
    write(
      '30-routes.yaml',
      `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: all, namespace: default }
spec:
  hosts: [shop.example.com, secure.example.com, mutual.example.com]
  gateways: [front]
  http: [{ route: [{ destination: { host: plain.mesh } }] }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: passed, namespace: default }
spec:
  hosts: ['*.example.com']
  gateways: [front]
  tls: [{ match: [{ sniHosts: [passed.example.com] }], route: [{ destination: { host: secure.mesh } }] }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: greeter, namespace: default }
spec:
  hosts: ['*']
  gateways: [front]
  tcp: [{ route: [{ destination: { host: greeter.mesh } }] }]
`,
    );
    writeSecret('shop', shop, ca.rootCert);
    const listen = { grpcAddr: xds, httpAddr: debug, monitoringAddr: monitoring };
    running.push(
      startRunning([process.execPath, resolve('dist/pilot-discovery.cjs')], {
        args: [
          'discovery',
          '--configDir',
          join(folder, 'config'),
          ...Object.entries(listen).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
        ],
        env: {},
      }),
    );
    const flags = {
      discoveryAddress: `127.0.0.1:${xds}`,
      configPath: join(folder, 'run'),
      proxyAdminPort: String(admin),
      statusPort: String(status),
      proxyLogLevel: 'warning',
      proxyComponentLogLevel: 'misc:error',
    };
    running.push(
      startRunning(program, {
        args: [
          'proxy',
          'router',
          ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]),
        ],
        env: {
          POD_NAME: 'gateway-0',
          POD_NAMESPACE: 'default',
          INSTANCE_IP: '127.0.0.22',
          GATEWAY_SECRETS: join(folder, 'secrets'),
          ISTIO_METAJSON_LABELS: JSON.stringify({ istio: 'ingressgateway' }),
          ENVOY_PROMETHEUS_PORT: String(prometheus),
          ENVOY_STATUS_PORT: String(health),
        },
      }),
    );
    await eventually(
      async () =>
        (await ask(http ?? 0, '/', { host: 'shop.example.com' })).status === 200 &&
        (await askSecure(https ?? 0, 'secure.example.com', ca?.rootCert ?? '')).status === 200,
      { within: 60_000 },
    );
  });

  afterAll(async () => {
    await Promise.all(running.map((child) => child.end('SIGTERM')));
    for (const applicationServer of servers) applicationServer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const secured = (name: string, client?: Issued) =>
    askSecure(https ?? 0, name, ca?.rootCert ?? '', client);

  it('answers for the hosts that it has, in plain text', async () => {
    expect(await ask(http ?? 0, '/', { host: 'shop.example.com' })).toEqual({
      status: 200,
      body: 'shop.example.com plain',
    });
    expect((await ask(http ?? 0, '/', { host: 'other.example.com' })).status).toBe(404);
    expect((await ask(http ?? 0, '/', { host: 'secure.example.com' })).status).toBe(301);
  });

  it('answers over TLS with the certificate of its credentialName', async () => {
    const { serial, ...answer } = await secured('secure.example.com');
    expect(answer).toEqual({ status: 200, body: 'secure.example.com plain' });
    expect(number(serial)).toBe(number(shop.serial));
    expect((await secured('other.example.com')).status).toBe(0);
  });

  it('lets in who has a certificate of the root, if it asks for one', async () => {
    const [trusted, foreign] = await Promise.all([ca?.issue(), others?.issue()]);
    expect((await secured('mutual.example.com', trusted)).status).toBe(200);
    expect((await secured('mutual.example.com', foreign)).status).toBe(0);
    expect((await secured('mutual.example.com')).status).toBe(0);
  });

  it('passes TLS on by its name, so that the service shows its own certificate', async () => {
    const through = (name: string) => askSecure(passed ?? 0, name, ca?.rootCert ?? '');
    const { serial, ...answer } = await through('passed.example.com');
    expect(answer).toEqual({ status: 200, body: 'passed on' });
    expect(number(serial)).toBe(number(backend.serial));
    expect((await through('other.example.com')).status).toBe(0);
  });

  it('passes TCP on', async () => {
    expect(await greeting(tcp ?? 0)).toBe('hello');
  });

  it('sends requests by a claim of their token, and refuses a token that is not valid', async () => {
    const [issuer, other] = [tokenIssuer('one'), tokenIssuer('one')];
    const to = (path: string, match = '') =>
      `{ ${match}rewrite: { authority: ${path} }, route: [{ destination: { host: plain.mesh } }] }`;
    write(
      '40-tokens.yaml',
      `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: default }
spec:
  selector: { matchLabels: { istio: ingressgateway } }
  jwtRules: [{ issuer: issuer, jwks: '${issuer.keys}' }]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: claims, namespace: default }
spec:
  selector: { istio: ingressgateway }
  servers: [${server(http ?? 0, 'http-claims', 'HTTP', 'claims.example.com')}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: claims, namespace: default }
spec:
  hosts: [claims.example.com]
  gateways: [claims]
  http:
    - ${to('admin', "match: [{ headers: { '@request.auth.claims[realm][groups]': { exact: admin } } }], ")}
    - ${to('no-subject', "match: [{ withoutHeaders: { '@request.auth.claims.sub': {} } }], ")}
    - ${to('others')}
`,
    );
    const sent = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await ask(http ?? 0, '/', { host: 'claims.example.com', headers });
      return status === 200 ? body.replace(' plain', '') : String(status);
    };
    const bearer = (by: typeof issuer, claims: Readonly<Record<string, unknown>>) =>
      sent({ authorization: `Bearer ${by.sign({ iss: 'issuer', ...claims })}` });
    await expect.poll(() => sent({})).toBe('no-subject');
    const admin = { sub: 'me', realm: { groups: ['staff', 'admin'] } };
    expect(await bearer(issuer, admin)).toBe('admin');
    expect(await bearer(issuer, { sub: 'you', realm: { groups: ['staff'] } })).toBe('others');
    expect(await bearer(issuer, {})).toBe('no-subject');
    expect(await bearer(other, admin)).toBe('401');
  });

  it('shows a new certificate once its folder has it', async () => {
    const renewed = (await ca?.issue()) ?? shop;
    writeSecret('shop', renewed, ca?.rootCert);
    await expect
      .poll(async () => number((await secured('secure.example.com')).serial))
      .toBe(number(renewed.serial));
  });

  it('takes a server in when the Gateway has it, and lets no name of a wrong one through', async () => {
    const simple = 'mode: SIMPLE, credentialName: shop';
    write(
      '20-gateway.yaml',
      gateway(server(https ?? 0, 'more', 'HTTPS', 'shop.example.com', simple)),
    );
    await expect.poll(async () => (await secured('shop.example.com')).status).toBe(200);
    write(
      '20-gateway.yaml',
      gateway(server(https ?? 0, 'more', 'HTTPS', 'shop.example.com', `${simple}, newer: 1`)),
    );
    await expect
      .poll(() => JSON.stringify(running[0]?.lines).includes('there is no such field'))
      .toBe(true);
    expect((await secured('shop.example.com')).status).toBe(200);
  });
});
