import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { type Kube, kubeProgram, startKube } from './support/kube.ts';
import { makePod, type MeshPod, type PodOptions } from './support/mesh-pod.ts';

const within = { timeout: 20_000 };

let kube: Kube;
let upstream: Server;
const pods: MeshPod[] = [];

if (kubeProgram === undefined) leftOut('the tests in a real mesh', 'a program');

describe.skipIf(kubeProgram === undefined)('a pod of a real mesh', () => {
  beforeAll(async () => {
    kube = await startKube();
    upstream = createServer((_, response) => void response.end('upstream'));
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  }, 60_000);
  afterAll(async () => {
    await kube.dispose();
    upstream.close();
  });
  afterEach(async () => {
    await Promise.all(pods.splice(0).map((pod) => pod.dispose()));
  });

  async function pod(options: PodOptions): Promise<MeshPod> {
    const made = await makePod(kube, (upstream.address() as AddressInfo).port, options);
    pods.push(made);
    return made;
  }

  it('starts, is ready with its listeners and its certificate, and follows a change', async () => {
    const one = await pod({ name: 'starts' });
    const agent = one.start();
    await agent.said('epoch.live', 0);
    await expect.poll(async () => (await one.ready()).status, within).toBe(200);
    expect((await one.request('outbound')).body).toBe('upstream');
    expect((await one.request('inbound')).body).toBe('upstream');
    expect(await one.shownSerial()).toMatch(/^[0-9A-F]+$/);

    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });
});
