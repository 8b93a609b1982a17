import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import { get as getByTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { certificateRequest } from '../../src/pilot-agent/secrets/ca/certificate-request.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { certificateEnv, makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let istiod: Istiod;
let upstream: Server;
let discovery: number;
let listen: readonly number[];
let target: number;

beforeEach(async () => {
  rig = await makeRig();
  const [port = 0, ...others] = await freePorts(6);
  discovery = port;
  listen = others.slice(2); // istiod also uses the two ports after its own
  istiod = makeIstiod(controlPlane ?? '', discovery);
  upstream = createServer((_, response) => void response.end('upstream'));
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  target = (upstream.address() as AddressInfo).port;
});
afterEach(async () => {
  await rig.dispose();
  await istiod.dispose();
  upstream.close();
});

/** Requests the listener of a service. Resolves to the status code; 0 if there is no connection. */
function ask(host: string, port: number): Promise<number> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, headers: { host }, agent: false }, (response) => {
      response.resume().on('end', () => done(response.statusCode ?? 0));
    }).on('error', () => done(0));
  });
}

if (controlPlane === undefined) leftOut('the tests with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)('with a real istiod', () => {
  it('connects, is ready when the configuration is there, follows changes without a restart, outlives istiod, and hot-restarts', async () => {
    const [first = 0, second = 0] = listen;
    const override = join(rig.folder, 'override.yaml');
    writeFileSync(override, '{}');
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      env: { ISTIO_META_INTERCEPTION_MODE: 'NONE', ISTIO_BOOTSTRAP_OVERRIDE: override },
    });
    await agent.said('epoch.started', 0);
    await expect.poll(async () => (await rig.ready()).body).toMatch(/Pilot|starting/);
    expect((await rig.ready()).status).toBe(503);

    istiod.serve('one.test', first, target);
    await istiod.start();
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    await expect.poll(() => ask('one.test', first)).toBe(200);
    const [envoy] = rig.envoys();

    istiod.serve('two.test', second, target);
    await expect.poll(() => ask('two.test', second)).toBe(200);
    expect(rig.envoys()).toContain(envoy);

    await istiod.stop();
    expect(await ask('one.test', first)).toBe(200);
    expect((await rig.ready()).status).toBe(200);
    await istiod.start();
    istiod.serve('one.test', listen[2] ?? 0, target);
    await expect.poll(() => ask('one.test', listen[2] ?? 0)).toBe(200);
    expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);

    writeFileSync(override, '{"node":{"metadata":{"CHANGED":"yes"}}}');
    await agent.said('epoch.live', 1);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    expect(await ask('two.test', second)).toBe(200);

    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });

  it('follows changes and removals by the delta variant too (ISTIO_DELTA_XDS), and each of them once', async () => {
    const [first = 0, second = 0] = listen;
    istiod.serve('one.test', first, target);
    istiod.serve('two.test', second, target);
    await istiod.start();
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      env: { ISTIO_META_INTERCEPTION_MODE: 'NONE', ISTIO_DELTA_XDS: 'true' },
    });
    await agent.said('epoch.live', 0);
    await expect.poll(() => ask('two.test', second)).toBe(200);
    istiod.remove('two.test');
    await expect.poll(() => ask('two.test', second)).toBe(0);
    expect(await ask('one.test', first)).toBe(200);
    // Each ACK, NACK and new subscription of Envoy is a request.
    const requests = async () =>
      Number(
        /^istio_agent_xds_proxy_requests (\d+)$/m.exec(
          await (await fetch(`http://127.0.0.1:${rig.ports.status}/stats/prometheus`)).text(),
        )?.[1],
      );
    const before = await requests();
    istiod.serve('one.test', second, target);
    await expect.poll(() => ask('one.test', second)).toBe(200);
    expect((await requests()) - before).toBeLessThan(20);
    const dump = await (
      await fetch(`http://127.0.0.1:${rig.ports.admin}/config_dump?mask=bootstrap`)
    ).text();
    expect(dump).toContain('"api_type": "DELTA_GRPC"');
  });

  it('goes on with what it has if the control plane is said to be at a wrong address, says so, and follows the right one', async () => {
    const [first = 0, second = 0] = listen;
    const mesh = join(rig.folder, 'mesh.yaml');
    const setAddress = (address: string) =>
      writeFileSync(mesh, JSON.stringify({ defaultConfig: { discoveryAddress: address } }));
    istiod.serve('one.test', first, target);
    await istiod.start();
    setAddress(`127.0.0.1:${discovery}`);
    const agent = rig.start(['--meshConfig', mesh], {
      generated: true,
      env: { ISTIO_META_INTERCEPTION_MODE: 'NONE' },
    });
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    setAddress('nowhere.invalid:15010');
    await agent.said('epoch.live', 1);
    expect(await agent.said('xds.unavailable')).toMatchObject({
      address: 'nowhere.invalid:15010',
      reason: 'its name does not resolve',
    });
    expect((await rig.ready()).status).toBe(200);
    expect(await ask('one.test', first)).toBe(200);
    setAddress(`127.0.0.1:${discovery}`);
    await agent.said('epoch.live', 2);
    await agent.said('xds.available');
    istiod.serve('one.test', second, target);
    await expect.poll(() => ask('one.test', second)).toBe(200);
  });

  it('puts a changed cluster in force though its endpoints stay the same', async () => {
    const [first = 0] = listen;
    istiod.serve('one.test', first, target);
    await istiod.start();
    const cluster = `outbound|${first}||one.test`;
    const admin = async (path: string) =>
      (await fetch(`http://127.0.0.1:${rig.ports.admin}/${path}`)).text();
    const limit = async (value: number) => {
      istiod.put('rule', {
        apiVersion: 'networking.istio.io/v1',
        kind: 'DestinationRule',
        metadata: { name: 'one', namespace: 'ns' },
        spec: {
          host: 'one.test',
          trafficPolicy: { connectionPool: { tcp: { maxConnections: value } } },
        },
      });
      await expect
        .poll(() => admin('clusters'))
        .toContain(`${cluster}::default_priority::max_connections::${value}\n`);
      expect(await admin('stats?filter=warming_clusters')).toContain('warming_clusters: 0');
    };
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      env: { ISTIO_META_INTERCEPTION_MODE: 'NONE' },
    });
    await agent.said('epoch.live', 0);
    await expect.poll(() => ask('one.test', first)).toBe(200);
    await limit(17);
    await limit(18);
    expect(await ask('one.test', first)).toBe(200);
  });

  /**
   * Configures mTLS to and from the workload: `from` is the port of its listener, `to` that of the
   * service `one.test`.
   */
  const mutual = (to: number, from: number) => {
    istiod.serve('one.test', to, target);
    istiod.put('rule', {
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: { name: 'one', namespace: 'ns' },
      spec: { host: 'one.test', trafficPolicy: { tls: { mode: 'ISTIO_MUTUAL' } } },
    });
    istiod.put('strict', {
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata: { name: 'strict', namespace: 'ns' },
      spec: { mtls: { mode: 'STRICT' } },
    });
    istiod.put('side', {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Sidecar',
      metadata: { name: 'side', namespace: 'ns' },
      spec: {
        ingress: [
          {
            port: { number: from, protocol: 'HTTP', name: 'http' },
            bind: '127.0.0.1',
            defaultEndpoint: `127.0.0.1:${target}`,
          },
        ],
        egress: [{ hosts: ['*/*'] }],
      },
    });
  };
  /**
   * Requests the workload with a certificate of the mesh. Resolves to the status code; 0 if there
   * is no connection.
   */
  const askByTls = async (port: number) => {
    const { csr, key } = await certificateRequest('spiffe://cluster.local/ns/ns/sa/client', {
      algorithm: 'ECDSA',
      pkcs8: true,
    });
    const { certificate: cert } = await rig.ca.sign(csr);
    return new Promise<number>((done) => {
      const clientRequest = getByTls(
        { host: '127.0.0.1', port, cert, key, ca: rig.ca.rootCert, agent: false },
        (response) => {
          response.resume().on('end', () => done(response.statusCode ?? 0));
        },
      );
      clientRequest.on('error', () => done(0));
    });
  };
  const podEnv = {
    ISTIO_META_INTERCEPTION_MODE: 'NONE',
    POD_NAME: 'pod',
    POD_NAMESPACE: 'ns',
    INSTANCE_IP: '127.0.0.1',
  };

  it('takes the secrets that istiod refers to from the agent: it is LIVE at once, and serves mTLS', async () => {
    const [to = 0, from = 0] = listen;
    mutual(to, from);
    await istiod.start();
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      env: podEnv,
    });
    await agent.said('epoch.started', 0);
    const started = Date.now();
    await agent.said('epoch.live', 0);
    expect(Date.now() - started).toBeLessThan(10_000); // 15 s if no server answers for the secrets
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    await expect.poll(() => askByTls(from)).toBe(200);
    expect(await ask('pod', from)).toBe(0);
  });

  it('is LIVE without the secrets that istiod refers to, names the reason why it is not ready, and uses them when they are there', async () => {
    const [to = 0, from = 0] = listen;
    mutual(to, from);
    await istiod.start();
    const none = Object.fromEntries(
      Object.keys(certificateEnv('')).map((name) => [name, undefined]),
    );
    const cwd = join(rig.folder, 'pod');
    mkdirSync(join(cwd, 'etc/certs'), { recursive: true });
    const agent = rig.start(['--discoveryAddress', `127.0.0.1:${discovery}`], {
      generated: true,
      cwd,
      env: { ...podEnv, ...none },
    });
    await agent.said('epoch.live', 0);
    const why = /^secret (default|ROOTCA): .*neither a certificate nor a root is there/m;
    await expect
      .poll(async () => rig.ready())
      .toMatchObject({ status: 503, body: expect.stringMatching(why) as string });
    expect(await askByTls(from)).toBe(0);

    writeCertificates(join(cwd, 'etc/certs'), rig.issued);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    await expect.poll(() => askByTls(from)).toBe(200);
    const codes = agent.log().map(({ event }) => event);
    expect(codes.filter((code) => code === 'secret.missing')).toHaveLength(2);
    expect(codes).not.toContain('secret.rejected');
  });
});
