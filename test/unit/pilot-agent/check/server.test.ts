import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { certificateAuthority, writeCertificates } from '../../../../demo/certificates.ts';
import { checkServer } from '../../../../src/pilot-agent/check/server.ts';

/** Starts a server that requires a client certificate, and checks it with a damaged pair. */
async function refusalWithout(damage: (paths: { chain: string; key: string }) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'check-server-'));
  const authority = await certificateAuthority();
  const issued = await authority.issue();
  writeCertificates(folder, issued);
  const server = createSecureServer({
    cert: issued.certChain,
    key: issued.key,
    ca: authority.rootCert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
    rmSync(folder, { recursive: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pair = { chain: join(folder, 'cert-chain.pem'), key: join(folder, 'key.pem') };
  damage(pair);
  const findings = await checkServer({
    check: 'control plane',
    address: `localhost:${(server.address() as AddressInfo).port}`,
    change: '--discoveryAddress',
    tls: {
      roots: join(folder, 'root-cert.pem'),
      pair,
      serverName: 'localhost',
      nameFlaw: () => undefined,
    },
    speak: '',
  });
  return { findings, ...pair };
}

it('a server that wants a certificate gets the pair', async () => {
  const { findings } = await refusalWithout(() => undefined);
  expect(findings.map(({ level }) => level)).not.toContain('fail');
});

it('a key that is missing is why the server gets no certificate', async () => {
  const { findings, key } = await refusalWithout((pair) => rmSync(pair.key));
  expect(findings[0]?.what).toContain(
    `(it gets no certificate, because ${key} cannot be read: it is not there)`,
  );
  expect(findings[0]?.fix).toBe('mount or write the file');
});

it('a chain that cannot be read is why the server gets no certificate', async () => {
  const { findings, chain } = await refusalWithout((pair) => {
    rmSync(pair.chain);
    mkdirSync(pair.chain);
  });
  expect(findings[0]?.what).toContain(
    `(it gets no certificate, because ${chain} cannot be read: it is a directory, and not a regular file)`,
  );
});
