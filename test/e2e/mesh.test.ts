import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it, type TestContext } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { makeRelay, type Relay } from '../support/relay.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { type Mesh, kubeProgram, sharedKube } from '../support/e2e/kube.ts';
import {
  account,
  makePod,
  type MeshPod,
  type PodOptions,
  upstreamHost,
} from '../support/e2e/mesh-pod.ts';
import { broken, unserved, untrue, watchPod } from '../support/e2e/watch-pod.ts';

let kube: Mesh;
let upstream: Upstream;

if (kubeProgram === undefined) leftOut('the tests in a real mesh', 'a program');

describe.skipIf(kubeProgram === undefined).concurrent('a pod of a real mesh', () => {
  beforeAll(async () => {
    kube = await sharedKube();
    upstream = await startUpstream();
  });
  afterAll(async () => {
    await upstream.close();
  });

  async function pod({ onTestFinished }: TestContext, options: PodOptions): Promise<MeshPod> {
    const meshPod = await makePod(kube, upstream.port, options);
    onTestFinished(() => meshPod.dispose());
    return meshPod;
  }

  /** Starts a relay to the certificate authority, which may close while xDS stays. */
  async function authority({
    onTestFinished,
  }: TestContext): Promise<{ readonly port: number; readonly relay: Relay }> {
    const [port = 0] = await freePorts(1);
    const relay = makeRelay(port, kube.istiodPort);
    onTestFinished(() => relay.close());
    return { port, relay };
  }

  const ready = ({ expect }: TestContext, meshPod: MeshPod) =>
    expect.poll(() => meshPod.ready()).toMatchObject({ status: 200 });

  it('starts, is ready with its listeners and its certificate, and follows a change', async (context) => {
    const { expect } = context;
    const meshPod = await pod(context, { name: 'starts' });
    const agent = meshPod.start();
    await ready(context, meshPod);
    expect((await meshPod.request('outbound')).body).toBe('upstream');
    expect((await meshPod.request('inbound')).body).toBe('upstream');
    expect(await meshPod.shownSerial()).toMatch(/^[0-9A-F]+$/);

    const [port = 0] = await freePorts(1);
    await meshPod.serve(port);
    await expect.poll(() => meshPod.request('outbound', port)).toMatchObject({ status: 200 });

    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });

  it('its certificate rotates under load, and its token is replaced, without a failed request', async (context) => {
    const { expect } = context;
    const meshPod = await pod(context, { name: 'rotates', env: { SECRET_TTL: '12s' } });
    const agent = meshPod.start();
    await ready(context, meshPod);
    const loads = (['outbound', 'inbound'] as const).map((direction) =>
      startLoad({
        port: meshPod.ports[direction],
        host: upstreamHost,
        mode: 'keep-alive',
        clients: 2,
        pause: 5,
        maxDuration: 180_000,
      }),
    );
    const watch = watchPod(meshPod);
    const serials = () => new Set(watch.samples.map(({ serial }) => serial)).size;
    await expect.poll(serials).toBe(3);

    replaceToken(meshPod, 'nobody');
    await agent.said('certificate.request_failed');
    replaceToken(meshPod, await kube.token('rotates', account));
    await expect.poll(serials).toBe(4);

    const samples = await watch.stop();
    expect(broken(samples)).toEqual([]);
    expect(untrue(samples)).toEqual([]);
    for (const load of loads) expect(await load.stop()).toMatchObject({ failed: 0 });
    expect(meshPod.envoys()).toHaveLength(1);
  });

  it('serves without an authority at the start, says that it has no certificate, and gets it later', async (context) => {
    const { expect } = context;
    const { port, relay } = await authority(context);
    const meshPod = await pod(context, { name: 'no-authority', caPort: port });
    meshPod.start();
    await expect.poll(() => meshPod.request('outbound')).toMatchObject({ status: 200 });
    await expect.poll(() => meshPod.request('inbound')).toMatchObject({ status: 200 });
    const watch = watchPod(meshPod);
    await expect
      .poll(async () => (await meshPod.ready()).body)
      .toMatch(new RegExp(`secret (ROOTCA|default): certificate authority localhost:${port}`));
    const envoys = meshPod.envoys();

    await relay.open();
    await ready(context, meshPod);
    expect(await meshPod.shownSerial()).toBeDefined();
    const samples = await watch.stop();
    expect(untrue(samples)).toEqual([]);
    expect(unserved(samples)).toEqual([]);
    expect(meshPod.envoys()).toEqual(envoys);
  });

  it('keeps its certificate while the authority is away at a renewal, and renews it then', async (context) => {
    const { expect } = context;
    const { port, relay } = await authority(context);
    await relay.open();
    const meshPod = await pod(context, {
      name: 'renews',
      caPort: port,
      env: { SECRET_TTL: '20s' },
    });
    const agent = meshPod.start();
    await ready(context, meshPod);
    await relay.close();
    const watch = watchPod(meshPod);
    await expect
      .poll(() => agent.log())
      .toContainEqual(expect.objectContaining({ event: 'certificate.request_failed' }));
    const before = await meshPod.shownSerial();
    await relay.open();
    await expect.poll(() => meshPod.shownSerial()).not.toBe(before);
    const samples = await watch.stop();
    expect(broken(samples)).toEqual([]);
    expect(untrue(samples)).toEqual([]);
  });
});

/** Replaces a token in one step, as the kubelet does: no reader sees a part of it. */
function replaceToken(pod: MeshPod, token: string): void {
  const path = join(pod.folder, 'var/run/secrets/tokens/istio-token');
  writeFileSync(`${path}.new`, token);
  renameSync(`${path}.new`, path);
}
