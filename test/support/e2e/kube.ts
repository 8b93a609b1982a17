import type { ChildProcess } from 'node:child_process';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';
import {
  endKubeProgram,
  type KubeApi,
  kubeProgram,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from './kube-server.ts';
import { sharedIstiodPort, sharedKubeApi } from './shared-kube.ts';

export { kubeProgram };

/** A real istiod on a real Kubernetes API without nodes. */
export interface Mesh {
  /** Where istiod takes agents: xDS and certificates, over TLS. */
  readonly istiodPort: number;
  /** Where it takes them without TLS: xDS alone. */
  readonly plaintextPort: number;
  /** Makes a resource, or changes it; resolves to what the API has then. */
  apply(resource: Resource): Promise<Resource>;
  /** Sets what a controller would say of a resource. */
  status(resource: Resource, status: Readonly<Record<string, unknown>>): Promise<unknown>;
  /**
   * Puts into `folder` what a pod of that service account has: token, root of the mesh, labels.
   * Makes the namespace and the account.
   */
  pod(folder: string, namespace: string, account: string): Promise<void>;
  /** A token of a service account for the certificate authority. */
  token(namespace: string, account: string): Promise<string>;
}

/** One that a test has for itself, and may stop. */
export interface Kube extends Mesh {
  /** Starts istiod, or starts it again; resolves when it takes connections. */
  startIstiod(): Promise<void>;
  /** Its connections are refused from then on. */
  stopIstiod(): Promise<void>;
  dispose(): Promise<void>;
}

/** That of all files of a run; a test keeps to namespaces of its own. */
export async function sharedKube(): Promise<Mesh> {
  return meshOn(await sharedKubeApi(), await sharedIstiodPort());
}

function meshOn(server: KubeApi, istiodPort: number): Mesh {
  return {
    istiodPort: istiodPort + 2,
    plaintextPort: istiodPort,
    apply: (resource) => server.apply(resource),
    status: (resource, status) => server.status(resource, status),
    pod: (address, namespace, account) => server.pod(address, namespace, account),
    token: (namespace, account) => server.token(namespace, account),
  };
}

/** Starts both, for a test that stops istiod. Resolves when it takes connections. */
export async function startKube(): Promise<Kube> {
  const istiod = await portsInARow(4);
  const server = await startKubeServer();
  let control: ChildProcess | undefined;

  const kube: Kube = {
    ...meshOn(server, istiod),
    async startIstiod() {
      control = startKubeProgram('istiod', server.folder, istiod);
      await eventually(() => connects(istiod + 2));
    },
    async stopIstiod() {
      await endKubeProgram(control);
      control = undefined;
      await eventually(async () => !(await connects(istiod + 2)));
    },
    async dispose() {
      await endKubeProgram(control);
      await server.dispose();
    },
  };
  try {
    await kube.startIstiod();
  } catch (error) {
    await kube.dispose();
    throw error;
  }
  return kube;
}
