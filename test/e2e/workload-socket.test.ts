import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { sdsSecretConfig } from '../../src/pilot-agent/bootstrap/secret-clusters.ts';
import { makeSignedRig, type SignedRig } from '../support/e2e/signed-rig.ts';
import { startLoad } from '../support/load.ts';
import {
  bundleOf,
  plainRoots,
  startWorkloadSocket,
  svidOf,
  type WorkloadSocket,
} from '../support/workload-socket.ts';

const folder = 'var/run/secrets/workload-spiffe-uds';
/** The variables with which the agent does not drain at its end. */
const hasty = { MINIMUM_DRAIN_DURATION: '0s' };
const id = 'spiffe://mesh.example/ns/default/sa/sleep';

let signed: SignedRig;
let socket: WorkloadSocket | undefined;
beforeEach(async () => {
  signed = await makeSignedRig();
  mkdirSync(join(signed.rig.folder, folder), { recursive: true });
});
afterEach(async () => {
  socket?.close();
  socket = undefined;
  await signed.dispose();
});

const path = (name = 'socket') => join(signed.rig.folder, folder, name);
const served = () => servedSerial(signed.rig.ports.listen, signed.rig.ca.rootCert);

it('twenty rotations over the workload socket under load, its server away and back: one Envoy, no request to the authority, nothing fails', async () => {
  const { rig, authority } = signed;
  const roots = bundleOf({ 'mesh.example': rig.ca.rootCert });
  socket = await startWorkloadSocket(path());
  const give = async () => {
    const { secret, serial } = await svidOf(rig.ca, id);
    socket?.give(secret, roots);
    await expect.poll(served, { interval: 10 }).toBe(serial);
  };
  const first = await svidOf(rig.ca, id);
  socket.give(first.secret, roots);
  const agent = signed.start();
  await expect.poll(served).toBe(first.serial);
  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'new-connection',
    clients: 2,
    pause: 10,
    maxDuration: 120_000,
  });
  for (let rotation = 0; rotation < 20; rotation += 1) await give();

  socket.give(roots); // the registration of the workload is gone
  expect(await agent.said('secret.refused')).toMatchObject({
    secret: 'default',
    reason: expect.stringContaining('workload is not authorized') as string,
  });
  socket.close();
  await expect
    .poll(
      () =>
        agent
          .log()
          .filter(({ event }) => event === 'secret.refused')
          .at(-1)?.['reason'],
    )
    .toContain('workload socket ./var/run/secrets/workload-spiffe-uds/socket: ');
  expect(await served()).toBeDefined();
  expect((await rig.ready()).status).toBe(200);
  socket = await startWorkloadSocket(path());
  const { secret, serial } = await svidOf(rig.ca, id);
  socket.give(secret, roots);
  await expect.poll(served).toBe(serial);

  const { failed, errors, ok } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  expect(ok).toBeGreaterThan(40);
  expect(authority.requests).toEqual([]);
  const lives = agent.log().filter(({ event }) => event === 'epoch.live');
  expect(lives).toHaveLength(1);
  expect(agent.log()).toContainEqual(
    expect.objectContaining({ event: 'identity.given', identity: id }),
  );
  const metrics = await (
    await fetch(`http://127.0.0.1:${rig.ports.status}/stats/prometheus`)
  ).text();
  expect(metrics).toContain('istio_agent_cert_expiry_seconds{resource_name="default"}');
});

it('a socket that a variable names is awaited, and the probe names it; an identity of another trust domain is refused', async () => {
  const { rig } = signed;
  const agent = signed.start({
    ...hasty,
    WORKLOAD_IDENTITY_SOCKET_FILE: 'agent.sock',
    TRUST_DOMAIN: 'mesh.example',
  });
  await expect
    .poll(async () => (await rig.ready()).body)
    .toMatch(/workload-spiffe-uds\/agent\.sock: it is not there, since /);
  socket = await startWorkloadSocket(path('agent.sock'));
  const foreign = await svidOf(rig.ca, 'spiffe://other.example/ns/default/sa/sleep');
  socket.give(foreign.secret, plainRoots(rig.ca.rootCert));
  await expect
    .poll(async () => (await rig.ready()).body)
    .toContain('the trust domain of this workload is mesh.example');
  const { secret, serial } = await svidOf(rig.ca, id);
  socket.give(secret, plainRoots(rig.ca.rootCert));
  await expect.poll(served).toBe(serial);
  await expect.poll(async () => (await rig.ready()).status).toBe(200);
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(signed.authority.requests).toEqual([]);
});

it('Envoy asks each client for a certificate of a trust domain that the socket names, from the roots of that domain', async () => {
  const { rig } = signed;
  demandCertificates(rig.config);
  const other = await certificateAuthority('another');
  socket = await startWorkloadSocket(path());
  const { secret, serial } = await svidOf(rig.ca, id);
  const both = { 'mesh.example': rig.ca.rootCert, 'other.example': other.rootCert };
  socket.give(secret, bundleOf(both));
  signed.start();
  const friend = await svidOf(other, 'spiffe://other.example/ns/default/sa/curl');
  const liar = await svidOf(other, 'spiffe://mesh.example/ns/default/sa/admin');
  await expect.poll(() => answered(rig.ports.listen, rig.ca.rootCert, friend)).toBe(serial);
  expect(await answered(rig.ports.listen, rig.ca.rootCert, liar)).toBeUndefined();
  expect(await answered(rig.ports.listen, rig.ca.rootCert)).toBeUndefined();
});

it('a socket whose server has died is awaited, and a file that is not a socket is not used', async () => {
  const { rig, authority } = signed;
  writeFileSync(path(), '');
  const first = signed.start(hasty);
  expect(await first.said('config.warning')).toMatchObject({
    warning: expect.stringContaining('it is not a socket') as string,
  });
  await expect.poll(served).toBeDefined();
  expect(authority.requests).toHaveLength(1);
  first.kill('SIGTERM');
  await first.exit;
  // A killed server leaves a socket like this one, without a listener.
  const dead = createServer().listen(path('dead'));
  await once(dead, 'listening');
  renameSync(path('dead'), path());
  dead.close();
  const second = signed.start(hasty);
  await expect
    .poll(async () => (await rig.ready()).body)
    .toContain(`${folder}/socket: connection refused`);
  socket = await startWorkloadSocket(path());
  const { secret, serial } = await svidOf(rig.ca, id);
  socket.give(secret, plainRoots(rig.ca.rootCert));
  await expect.poll(served).toBe(serial);
  second.kill('SIGTERM');
  await second.exit;
  expect(authority.requests).toHaveLength(1);
});

/** Makes a listener ask for a certificate that the secret `ROOTCA` verifies. */
function demandCertificates(config: string): void {
  type Tls = { common_tls_context: object; require_client_certificate?: boolean };
  const content = JSON.parse(readFileSync(config, 'utf8')) as {
    static_resources: {
      listeners: [{ filter_chains: [{ transport_socket: { typed_config: Tls } }] }];
    };
  };
  const tls = content.static_resources.listeners[0].filter_chains[0].transport_socket.typed_config;
  tls.require_client_certificate = true;
  Object.assign(tls.common_tls_context, {
    validation_context_sds_secret_config: sdsSecretConfig('ROOTCA'),
  });
  writeFileSync(config, JSON.stringify(content));
}

type Svid = Awaited<ReturnType<typeof svidOf>>;

/**
 * Resolves to the serial of the server's certificate; undefined if the server does not answer this
 * client.
 */
function answered(port: number, ca: string, client?: Svid): Promise<string | undefined> {
  const value =
    client?.secret.type.case === 'tlsCertificate' ? client.secret.type.value : undefined;
  const key = value?.privateKey?.specifier.value;
  return new Promise((done) => {
    const socket = connect({
      ...{ port, host: '127.0.0.1', servername: 'localhost', ca, timeout: 2_000 },
      ...(client !== undefined &&
        key !== undefined && { cert: client.chain, key: Buffer.from(key) }),
    });
    socket
      .on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'))
      .on('data', () => {
        done(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      })
      .on('timeout', () => socket.destroy())
      .on('error', () => undefined)
      .on('close', () => done(undefined));
  });
}
