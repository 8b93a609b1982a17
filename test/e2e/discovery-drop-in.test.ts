import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import type { Mesh } from '../support/e2e/kube.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';
import { makeSidecar, ports, type SidecarPod } from '../support/e2e/sidecar-pod.ts';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';

const isPossible = kubeProgram !== undefined && hasNetworks;
if (kubeProgram === undefined) leftOut('the place of istiod, taken', 'a program');
else if (!hasNetworks) leftOut('the place of istiod, taken in networks of their own');

const namespace = 'shop';

describe.skipIf(!isPossible)('pilot-discovery in the place of istiod', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-drop-in-'));
  const ends: (() => unknown)[] = [];
  let kube: KubeServer;
  let network: Network;
  let mesh: Mesh;
  let program: KubeDiscovery;

  beforeAll(async () => {
    kube = await startKubeServer();
    network = makeNetwork();
    const authority = await pluggedAuthority();
    writeKubernetesVolume(join(folder, 'etc/cacerts'), {
      'ca-cert.pem': authority.certificate,
      'ca-key.pem': authority.key.toString(),
      'cert-chain.pem': authority.chain,
      'root-cert.pem': authority.roots,
    });
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

  it('gives two sidecars, by their tokens, certificates for STRICT mTLS and configuration', async () => {
    await kube.apply({
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata: { name: 'default', namespace },
      spec: { mtls: { mode: 'STRICT' } },
    });
    const pods: SidecarPod[] = [];
    for (const name of ['server', 'client']) {
      const pod = await makeSidecar(mesh, network, { name, namespace, mode: 'NONE' });
      ends.push(() => pod.dispose());
      pods.push(pod);
    }
    const [server, client] = pods;
    if (server === undefined || client === undefined) throw new Error('no pods');
    for (const pod of pods) await expect.poll(() => pod.ready()).toMatchObject({ status: 200 });
    const host = `server.${namespace}.svc.cluster.local:${ports.service}`;
    const application = await client.connection(server);
    await expect.poll(() => ask(application, '/', { host })).toMatchObject({ status: 200 });
    const { body } = await ask(application, '/', { host });
    expect(body).toContain(`By=${identity('server')};`);
    expect(body).toContain(`URI=${identity('client')}"`);
    const stranger = join(network.folder, 'stranger');
    await network.outside.relay([[stranger, `${server.address}:${ports.application}`]]);
    expect(await ask(stranger, '/', { host })).toMatchObject({ status: 0 });
    const issued = program.lines('discovery.certificate_issued').map((line) => line['identity']);
    expect(new Set(issued)).toEqual(new Set(['server', 'client'].map(identity)));
    expect(program.lines('discovery.caller_refused')).toEqual([]);
    expect(program.lines('discovery.rejected')).toEqual([]);
  });
});
