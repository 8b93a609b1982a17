import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Mesh } from './kube.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from './kube-discovery.ts';
import { type KubeServer, startKubeServer } from './kube-server.ts';
import { makeNetwork, type Network } from './network.ts';
import { makeSidecar, ports, type SidecarOptions, type SidecarPod } from './sidecar-pod.ts';

/** The namespace of the pods. */
export const namespace = 'shop';

export const identity = (name: string) => `spiffe://cluster.local/ns/${namespace}/sa/${name}`;

/** Returns the host of the service of a pod, with its port. */
export const hostOf = (name: string) => `${name}.${namespace}.svc.cluster.local:${ports.service}`;

/** The policy by which no pod of the namespace accepts plain text. */
export const strict = {
  apiVersion: 'security.istio.io/v1',
  kind: 'PeerAuthentication',
  metadata: { name: 'default', namespace },
  spec: { mtls: { mode: 'STRICT' } },
};

/** A control plane that replaces istiod, over a real API, and the pods around it. */
export interface IstiodPlace {
  readonly kube: KubeServer;
  readonly network: Network;
  readonly program: KubeDiscovery;
  /** The identities to which it has issued certificates. */
  readonly issued: () => ReadonlySet<unknown>;
  /** Resolves to a new pod of the namespace when it is ready; the pod ends with the test. */
  readonly sidecar: (name: string, agentOf?: 'Istio') => Promise<SidecarPod>;
  /**
   * Resolves to a gateway with Istio's agent in the same way. Gateways select it by its label
   * `app`.
   */
  readonly gateway: (name: string) => Promise<SidecarPod>;
}

/**
 * Starts such a control plane before the tests of a file, and ends it after them. The result of the
 * returned function is valid in the tests.
 *
 * @param prepare writes into the folder in which the control plane is started
 */
export function istiodPlace(
  prepare: (folder: string) => Promise<void> | void = () => undefined,
): () => IstiodPlace {
  const ends: (() => unknown)[] = [];
  let folder: string;
  let kube: KubeServer;
  let network: Network;
  let program: KubeDiscovery;
  let mesh: Mesh;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-place-'));
    kube = await startKubeServer();
    network = makeNetwork();
    await prepare(folder);
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

  const podOf = async (
    options: Pick<SidecarOptions, 'name' | 'agentOf' | 'role'>,
  ): Promise<SidecarPod> => {
    const pod = await makeSidecar(mesh, network, { namespace, mode: 'NONE', ...options });
    ends.push(() => pod.dispose());
    await expect.poll(() => pod.ready()).toMatchObject({ status: 200 });
    return pod;
  };
  return () => ({
    kube,
    network,
    program,
    issued: () =>
      new Set(program.lines('discovery.certificate_issued').map((line) => line['identity'])),
    sidecar: (name, agentOf) => podOf({ name, ...(agentOf !== undefined && { agentOf }) }),
    gateway: (name) => podOf({ name, agentOf: 'Istio', role: 'router' }),
  });
}
