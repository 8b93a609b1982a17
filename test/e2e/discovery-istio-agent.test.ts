import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { hasIstioAgent } from '../support/e2e/istio-agent.ts';
import type { Mesh } from '../support/e2e/kube.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';
import { makeSidecar, ports, type SidecarPod } from '../support/e2e/sidecar-pod.ts';
import { leftOut } from '../support/left-out.ts';

const isPossible = kubeProgram !== undefined && hasIstioAgent && hasNetworks;
if (kubeProgram === undefined || !hasIstioAgent)
  leftOut("Istio's agent over pilot-discovery", 'a program');
else if (!hasNetworks) leftOut("Istio's agent over pilot-discovery, in networks of their own");

const namespace = 'shop';

describe.skipIf(!isPossible)("Istio's own agent over pilot-discovery", () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-istio-agent-'));
  const ends: (() => unknown)[] = [];
  let kube: KubeServer;
  let network: Network;
  let program: KubeDiscovery;
  let mesh: Mesh;

  beforeAll(async () => {
    kube = await startKubeServer();
    network = makeNetwork();
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const { kubeconfig } = kube;
    program = await startKubeDiscovery({ kubeconfig, folder }, {}, '--domain', 'cluster.local');
    mesh = await meshOf(kube, program);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await program.end();
    await kube.dispose();
    network.dispose();
    rmSync(folder, { recursive: true });
  });

  const identity = (name: string) => `spiffe://cluster.local/ns/${namespace}/sa/${name}`;
  async function sidecar(name: string, agentOf?: 'Istio'): Promise<SidecarPod> {
    const pod = await makeSidecar(mesh, network, {
      ...{ name, namespace, mode: 'NONE' },
      ...(agentOf !== undefined && { agentOf }),
    });
    ends.push(() => pod.dispose());
    await expect.poll(() => pod.ready()).toMatchObject({ status: 200 });
    return pod;
  }
  const host = (name: string) => `${name}.${namespace}.svc.cluster.local:${ports.service}`;

  it('gets its certificate by token, its configuration, and calls by STRICT mTLS both ways', async () => {
    await kube.apply({
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata: { name: 'default', namespace },
      spec: { mtls: { mode: 'STRICT' } },
    });
    const theirs = await sidecar('theirs', 'Istio');
    const ours = await sidecar('ours');
    const toOurs = await theirs.connection(ours);
    const toTheirs = await ours.connection(theirs);
    for (const [client, server, connection] of [
      [theirs, ours, toOurs],
      [ours, theirs, toTheirs],
    ] as const) {
      const get = () => ask(connection, '/', { host: host(server.name) });
      await expect.poll(get).toMatchObject({ status: 200 });
      const { body } = await get();
      expect(body).toContain(`By=${identity(server.name)};`);
      expect(body).toContain(`URI=${identity(client.name)}"`);
    }
    // It has its configuration by delta xDS, from the secure port, and follows changes.
    await kube.apply({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'ours', namespace },
      spec: {
        hosts: [`ours.${namespace}.svc.cluster.local`],
        http: [{ directResponse: { status: 418 } }],
      },
    });
    await expect
      .poll(() => ask(toOurs, '/', { host: host('ours') }))
      .toMatchObject({ status: 418 });
    const issued = program.lines('discovery.certificate_issued').map((line) => line['identity']);
    expect(new Set(issued)).toEqual(new Set(['theirs', 'ours'].map(identity)));
    for (const event of ['caller_refused', 'certificate_refused', 'rejected', 'stream_refused'])
      expect(program.lines(`discovery.${event}`)).toEqual([]);
  });
});
