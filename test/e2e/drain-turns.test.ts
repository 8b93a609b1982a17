import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { get as getTls } from 'node:https';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { certificateFiles, writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { startLoad } from '../support/load.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let upstream: Server | undefined;
afterEach(async () => {
  upstream?.closeAllConnections();
  upstream?.close();
  upstream = undefined;
  await rig.dispose();
});

it('three rotations while the first epoch still answers start two more epochs: the answer is whole, the third certificate is served', async () => {
  let answer: () => void = () => undefined;
  upstream = createServer((request, response) => {
    answer = () => response.end('slow but whole');
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  rig = await makeRig({ upstreamPort: (upstream.address() as AddressInfo).port });
  const agent = rig.start([
    '--drainDuration',
    '14s',
    '--parentShutdownDuration',
    '15s',
    '--log_output_level',
    'default:debug',
  ]);
  await agent.said('epoch.live', 0);
  const answered = new Promise<string>((done, fail) => {
    getTls(
      {
        host: '127.0.0.1',
        port: rig.ports.listen,
        path: '/slow',
        servername: 'localhost',
        ca: rig.ca.rootCert,
        agent: false,
      },
      (response) => {
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => done(body))
          .on('error', fail);
      },
    ).on('error', fail);
  });
  await once(upstream, 'request');

  const rotations = [await rig.ca.issue(), await rig.ca.issue(), await rig.ca.issue()];
  for (const [index, issued] of rotations.entries()) {
    writeCertificates(rig.certDir, issued);
    if (index === 0) await agent.said('epoch.live', 1);
    else
      await expect
        .poll(() => agent.log().filter(({ event }) => event === 'config.changed'))
        .toHaveLength(index + 1);
  }
  await agent.said('epoch.claimed', 2);
  answer();
  expect(await answered).toBe('slow but whole');
  await expect
    .poll(() => agent.log())
    .toContainEqual(expect.objectContaining({ event: 'epoch.live', epoch: 2 }));
  await expect
    .poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert))
    .toBe(rotations.at(-1)?.serial);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(3);
});

/** Resolves to the answer of the status port to a program. */
async function status(path: string): Promise<string> {
  return (
    await fetch(`http://127.0.0.1:${rig.ports.status}${path}`, {
      headers: { accept: 'application/json, text/plain' },
    })
  ).text();
}

it('the halves of a pair that come in two windows are one restart, and the reason is told meanwhile', async () => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  const issued = await rig.ca.issue();
  const files = certificateFiles(issued);
  writeFileSync(join(rig.certDir, 'cert-chain.pem'), files['cert-chain.pem'] ?? '');
  const { reason } = await agent.said('config.refused');
  expect(reason).toMatch(/cert-chain\.pem, \S+key\.pem: the key does not match the certificate \(/);
  const [ready, metrics] = await Promise.all([
    status('/healthz/ready'),
    status('/stats/prometheus'),
  ]);
  expect(JSON.parse(ready)).toMatchObject({
    ok: true,
    notes: [`configuration refused: ${String(reason)}`],
  });
  expect(metrics).toContain(`istio_agent_configuration_refused{reason="check"} 1`);
  writeFileSync(join(rig.certDir, 'key.pem'), files['key.pem'] ?? '');
  await agent.said('epoch.live', 1);
  await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(issued.serial);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(2);
});

it('a certificate that Envoy does not use and that has expired meanwhile keeps no crashed Envoy from coming back', async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  writeCertificates(
    rig.certDir,
    await rig.ca.issue({
      notAfter: new Date(Date.now() - 1_000),
      notBefore: new Date(Date.now() - 60_000),
    }),
  );
  await agent.said('config.refused');
  for (const pid of rig.envoys()) process.kill(pid, 'SIGKILL');
  await agent.said('epoch.failed', 0);
  await agent.said('epoch.live', 1);
  expect(await agent.said('certificate.expired')).toMatchObject({
    path: join(rig.certDir, 'cert-chain.pem'),
  });
  expect(
    await new Promise((done) =>
      get({ host: '127.0.0.1', port: rig.ports.listen }, ({ statusCode }) => done(statusCode)),
    ),
  ).toBe(200);
});

it('a parent that still drains and its child end by themselves, without a SIGKILL, and the access log is whole', async () => {
  rig = await makeRig({ plain: true, accessLog: '/dev/stdout' });
  const agent = rig.start(['--drainDuration', '50s', '--parentShutdownDuration', '60s'], {
    env: { TERMINATION_DRAIN_DURATION_SECONDS: '1' },
  });
  await agent.said('epoch.live', 0);
  const load = startLoad({ port: rig.ports.listen, mode: 'keep-alive', clients: 1 });
  await expect.poll(() => load.counts.ok).toBeGreaterThan(100);
  agent.kill('SIGHUP');
  await agent.said('epoch.live', 1);
  await expect.poll(() => load.counts.connections).toBeGreaterThan(1);
  const { ok, failed } = await load.stop();
  expect(failed).toBe(0);
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  const ends = agent.log().filter(({ event }) => event.startsWith('epoch.ended'));
  expect(ends.map(({ signal }) => signal)).toEqual([undefined, undefined]);
  expect(
    agent
      .output()
      .split('\n')
      .filter((line) => line.startsWith('[')),
  ).toHaveLength(ok);
});
