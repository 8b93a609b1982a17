import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { servedSerial } from '../../demo/served-serial.ts';
import type { CaServer } from '../support/ca-server.ts';
import { freePorts } from '../support/free-ports.ts';
import { startLoad } from '../support/load.ts';
import type { Rig } from '../support/e2e/rig.ts';
import { makeSignedRig, type SignedRig } from '../support/e2e/signed-rig.ts';

let signed: SignedRig;
let rig: Rig;
let server: CaServer;
beforeEach(async () => {
  signed = await makeSignedRig();
  ({ rig, authority: server } = signed);
});
afterEach(() => signed.dispose());

const start = (env: NodeJS.ProcessEnv = {}) => signed.start(env);
const served = () => servedSerial(rig.ports.listen, rig.ca.rootCert);

it('forty rotations by an authority under load: one Envoy, nine of ten certificates served within a second, nothing fails', async () => {
  const issued: { readonly serial: number; readonly at: number }[] = [];
  server.answer = async ({ csr }) => {
    const { certificate, serial } = await rig.ca.sign(csr, {
      notAfter: new Date(Date.now() + 60_000),
    });
    issued.push({ serial: Number.parseInt(serial, 16), at: performance.now() });
    return [certificate, rig.ca.rootCert];
  };
  const agent = start({
    SECRET_GRACE_PERIOD_RATIO: '1',
    ECC_SIGNATURE_ALGORITHM: 'ECDSA',
    OUTPUT_CERTS: join(rig.folder, 'output'),
  });
  await expect.poll(() => served()).toBeDefined();
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'new-connection',
    clients: 2,
    pause: 10,
    maxDuration: 120_000,
  });
  const lags: number[] = [];
  while (issued.length < 41) {
    const begun = performance.now();
    const serial = Number.parseInt((await served()) ?? '', 16);
    const next = issued.find((certificate) => certificate.serial > serial);
    lags.push(next === undefined ? 0 : Math.max(0, begun - next.at));
  }
  const { failed, errors, ok } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  expect(ok).toBeGreaterThan(40);
  lags.sort((a, b) => a - b);
  expect(lags[Math.floor(lags.length * 0.9)]).toBeLessThan(1_000);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
  expect(server.requests[0]?.authorization).toBe(`Bearer ${readFileSync(signed.token, 'utf8')}`);
  for (const name of ['key.pem', 'cert-chain.pem', 'root-cert.pem'])
    expect(statSync(join(rig.folder, 'output', name)).mode & 0o777).toBe(0o600);
});

it('an authority that is down, or refuses, takes nothing away, and is asked until it answers', async () => {
  const sign = server.answer;
  server.answer = () => Promise.resolve({ code: status.UNAVAILABLE, details: 'not yet' });
  const agent = start({ SECRET_GRACE_PERIOD_RATIO: '1' });
  expect((await agent.said('certificate.request_failed'))['reason']).toBe('not yet');
  server.answer = async ({ csr }) => [
    (await rig.ca.sign(csr, { notAfter: new Date(Date.now() + 60_000) })).certificate,
    rig.ca.rootCert,
  ];
  await agent.said('certificate.issued');
  await expect.poll(() => served()).toBeDefined();
  server.answer = () => Promise.resolve({ code: status.UNAVAILABLE, details: 'down again' });
  await expect
    .poll(() => agent.log())
    .toContainEqual(expect.objectContaining({ reason: 'down again' }));
  expect(await served()).toBeDefined();
  server.answer = sign;
  const requestCount = server.requests.length;
  await expect.poll(() => server.requests.length).toBeGreaterThan(requestCount);
  // The previous certificate may have expired meanwhile.
  await expect.poll(() => served()).toBeDefined();
});

it('a proxy of the environment that refuses is not asked, at the start and later', async () => {
  const proxied = vi.fn();
  const proxy = createServer((socket) => {
    proxied();
    socket.resetAndDestroy();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [
    name,
    name.toUpperCase(),
  ]);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  server.answer = async ({ csr }) => [
    (await rig.ca.sign(csr, { notAfter: new Date(Date.now() + 60_000) })).certificate,
    rig.ca.rootCert,
  ];
  const agent = start({
    SECRET_GRACE_PERIOD_RATIO: '1',
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(names.map((name) => [name, url])),
  });
  await expect.poll(() => served()).toBeDefined();
  const first = await served();
  await expect.poll(async () => (await served()) ?? first).not.toBe(first);
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(proxied).not.toHaveBeenCalled();
  proxy.close();
});

it('without a token it is said, and Envoy goes on without a certificate', async () => {
  const agent = start({ JWT_POLICY: 'none' });
  await agent.said('epoch.started', 0);
  expect((await agent.said('certificate.request_failed'))['reason']).toContain('token');
  await agent.said('epoch.live', 0);
  await expect
    .poll(() => rig.ready())
    .toMatchObject({
      status: 503,
      body: expect.stringMatching(/^secret default: .*token/) as string,
    });
});

it('an unknown provider of the roots ends the agent with 78', async () => {
  const [port = 0] = await freePorts(1);
  const agent = start({ CA_ADDR: `127.0.0.1:${port}`, PILOT_CERT_PROVIDER: 'nobody' });
  expect(await agent.exit).toEqual({ code: 78, signal: null });
  expect(agent.errors()).toContain("PILOT_CERT_PROVIDER: 'nobody'");
});
