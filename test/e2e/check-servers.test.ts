import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import {
  createSecureServer,
  createServer as createHttp2,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type CertificateAuthority,
  certificateAuthority,
  type Issued,
  writeCertificates,
} from '../../demo/certificates.ts';
import { startMutualControlPlane } from '../support/mutual-control-plane.ts';
import { type Checked, flawed, flawsOf, makeCheck } from '../support/e2e/checked.ts';
import { certificateEnv } from '../support/e2e/rig.ts';

const hour = 3_600_000;
let ca: CertificateAuthority;
let issued: Issued;
beforeAll(async () => {
  ca = await certificateAuthority();
  issued = await ca.issue();
});

/** Starts a server on 127.0.0.1, and returns its address. */
async function listen(server: Server | Http2Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a handler of HTTP/2 that sends this time as its date; no date if it is undefined. */
const answering = (date?: Date) => (stream: ServerHttp2Stream) =>
  stream.respond(
    date === undefined ? { ':status': 415 } : { ':status': 415, date: date.toUTCString() },
    {
      endStream: true,
      sendDate: false,
    } as object,
  );
const plain = (date?: Date) => createHttp2().on('stream', answering(date));
const secure = ({ certChain, key }: Issued) =>
  createSecureServer({ cert: certChain, key }).on('stream', answering());

const findingOf = (check: string, { findings }: Checked) =>
  findings.find((finding) => finding.check === check)?.what;

describe('check of the control plane', () => {
  it('says that its name does not resolve', async () => {
    const check = await makeCheck();
    const look = async (discoveryAddress: string) =>
      flawsOf('control plane', await check.run({ discoveryAddress }));
    expect(await look('nobody.invalid:15010')).toEqual([
      flawed(
        'fail',
        'address unresolved',
        /^nobody\.invalid:15010: its name does not resolve/,
        /--discoveryAddress/,
      ),
    ]);
    const { port } = new URL(`http://${await listen(plain())}`);
    const right = await check.run({ discoveryAddress: `localhost:${port}` });
    expect(flawsOf('control plane', right)).toEqual([]);
    expect(findingOf('control plane', right)).toMatch(
      /^localhost:\d+ \(.*127\.0\.0\.1.*\) answers without TLS$/,
    );
  });

  it('says that nobody listens there, or says nothing', async () => {
    const check = await makeCheck();
    const look = async (discoveryAddress: string) =>
      flawsOf('control plane', await check.run({ discoveryAddress }));
    expect(await look(`127.0.0.1:${check.ports.health}`)).toEqual([
      flawed('fail', 'address unreachable', /: connection refused$/),
    ]);
    expect(await look(await listen(createServer()))).toEqual([
      flawed('fail', 'protocol wrong', /: no answer within 3 s$/),
    ]);
  });

  it('says that it speaks something else', async () => {
    const check = await makeCheck();
    const look = async (discoveryAddress: string, controlPlaneAuthPolicy: string) =>
      flawsOf(
        'control plane',
        await check.run(
          { discoveryAddress, controlPlaneAuthPolicy },
          { env: certificateEnv(check.folder) },
        ),
      );
    writeCertificates(check.folder, issued);
    const [old, tls, clear] = await Promise.all([
      listen(
        createServer((socket) =>
          socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
        ),
      ),
      listen(secure(issued)),
      listen(plain()),
    ]);
    expect(await look(old, 'NONE')).toEqual([
      flawed('fail', 'protocol wrong', /: it does not speak HTTP\/2$/),
    ]);
    expect(await look(tls, 'NONE')).toEqual([
      flawed('fail', 'protocol wrong', /./, /15010.*or --controlPlaneAuthPolicy MUTUAL_TLS/),
    ]);
    expect(await look(clear, 'MUTUAL_TLS')).toEqual([
      flawed('fail', 'protocol wrong', /TLS: it does not speak TLS$/, /15012/),
    ]);
    expect(await look(clear, 'NONE')).toEqual([]);
  });

  it('says whether TLS proves who it is: roots and names', async () => {
    const check = await makeCheck();
    writeCertificates(check.folder, issued);
    const [port] = [new URL(`http://${await listen(secure(issued))}`).port];
    const run = (identity: string) =>
      check.run(
        {
          discoveryAddress: `127.0.0.1:${port}`,
          controlPlaneAuthPolicy: 'MUTUAL_TLS',
          pilotIdentity: identity,
        },
        { env: certificateEnv(check.folder) },
      );
    expect(flawsOf('control plane', await run('spiffe://mesh/pilot'))).toEqual([
      flawed(
        'fail',
        'tls name',
        /its certificate is for DNS:localhost, IP Address:127\.0\.0\.1, and not for URI:spiffe/,
      ),
    ]);
    const byName = () =>
      check.run(
        { discoveryAddress: `localhost:${port}`, controlPlaneAuthPolicy: 'MUTUAL_TLS' },
        { env: certificateEnv(check.folder) },
      );
    const named = await byName();
    expect(findingOf('control plane', named)).toMatch(
      /answers with TLS; its certificate is for DNS:localhost, IP Address:127\.0\.0\.1$/,
    );
    writeCertificates(check.folder, {
      ...issued,
      rootCert: (await certificateAuthority('another CA')).rootCert,
    });
    expect(flawsOf('control plane', await byName())).toContainEqual(
      flawed('fail', 'tls untrusted', /root-cert\.pem does not vouch for it: /, /put the root/),
    );
  });

  it('shows its own certificate to one that wants to see it', async () => {
    const check = await makeCheck();
    writeCertificates(check.folder, issued);
    const server = await startMutualControlPlane({
      chain: issued.certChain,
      key: issued.key,
      roots: ca.rootCert,
    });
    onTestFinished(() => server.close());
    const look = async (env: NodeJS.ProcessEnv) =>
      flawsOf(
        'control plane',
        await check.run(
          { discoveryAddress: `127.0.0.1:${server.port}`, controlPlaneAuthPolicy: 'MUTUAL_TLS' },
          { env },
        ),
      );
    const other = join(check.folder, 'other');
    mkdirSync(other);
    const foreign = await (await certificateAuthority('another CA')).issue();
    writeCertificates(other, { ...foreign, rootCert: ca.rootCert });
    const flaws = await look(certificateEnv(other));
    expect(flaws).toContainEqual(
      flawed(
        'fail',
        'tls refused',
        /closes the connection after TLS \(it gets .*other\/cert-chain\.pem\)/,
      ),
    );
    expect(await look(certificateEnv(check.folder))).not.toContainEqual(
      flawed('fail', 'tls refused', /./),
    );
  });

  it('says that the roots are not there', async () => {
    const check = await makeCheck();
    const flaws = flawsOf(
      'control plane',
      await check.run(
        { controlPlaneAuthPolicy: 'MUTUAL_TLS', discoveryAddress: '127.0.0.1:1' },
        { env: certificateEnv(check.folder) },
      ),
    );
    expect(flaws).toEqual([
      flawed(
        'fail',
        'certificate missing',
        /the roots that vouch for 127\.0\.0\.1:1 cannot be read: .*root-cert\.pem/,
      ),
    ]);
  });
});

describe('check of the clock', () => {
  it('says how far it is from that of the control plane', async () => {
    const check = await makeCheck();
    const look = async (date: Date) => {
      const checked = await check.run({ discoveryAddress: await listen(plain(date)) });
      return { flaws: flawsOf('clock', checked), told: findingOf('clock', checked) };
    };
    expect((await look(new Date(Date.now() + 3 * hour))).flaws).toEqual([
      flawed('warn', 'clock off', /3 h apart$/, /NTP/),
    ]);
    expect(await look(new Date())).toEqual({
      flaws: [],
      told: expect.stringMatching(/^it agrees with that of 127/) as string,
    });
  });

  it('goes by the certificate if no time is told', async () => {
    const check = await makeCheck();
    writeCertificates(check.folder, issued);
    const look = async (pair: Issued) =>
      flawsOf(
        'clock',
        await check.run(
          { discoveryAddress: await listen(secure(pair)), controlPlaneAuthPolicy: 'MUTUAL_TLS' },
          { env: certificateEnv(check.folder) },
        ),
      );
    const [notBefore, notAfter] = [new Date(Date.now() + hour), new Date(Date.now() + 2 * hour)];
    expect(await look(await ca.issue({ notBefore, notAfter }))).toEqual([
      flawed('warn', 'clock off', /the certificate of 127.* is valid from 20/),
    ]);
    expect(await look(issued)).toEqual([]);
  });
});

describe('check of the authority', () => {
  it('asks none if the certificates are in files', async () => {
    const check = await makeCheck();
    expect(findingOf('authority', await check.run())).toMatch(/^none is asked/);
  });

  it('goes to the one that is named, with the roots and the name that the agent would use', async () => {
    const check = await makeCheck();
    const roots = join(check.folder, 'var/run/secrets/istio');
    mkdirSync(roots, { recursive: true });
    writeFileSync(join(roots, 'root-cert.pem'), ca.rootCert);
    const look = async (address: string) =>
      flawsOf('authority', await check.run({}, { env: { CA_ADDR: address } }));
    expect(await look(`127.0.0.1:${check.ports.health}`)).toEqual([
      flawed('fail', 'address unreachable', /connection refused/, /CA_ADDR/),
    ]);
    const { host, port } = new URL(`http://${await listen(secure(issued))}`);
    expect(await look(host)).toEqual([]);
    expect(await look(`localhost:${port}`)).toEqual([
      flawed(
        'fail',
        'tls name',
        /its certificate is for DNS:localhost.*and not for istiod\.istio-system\.svc/,
      ),
    ]);
    writeFileSync(
      join(roots, 'root-cert.pem'),
      (await certificateAuthority('another CA')).rootCert,
    );
    expect(await look(host)).toEqual([
      flawed('fail', 'tls untrusted', /root-cert\.pem does not vouch for it/),
    ]);
  });
});
