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
  /** The port of istiod for xDS and certificates over TLS. */
  readonly istiodPort: number;
  /** The port of istiod without TLS, only for xDS. */
  readonly plaintextPort: number;
  /** Creates or changes a resource; resolves to the resource that the API then has. */
  apply(resource: Resource): Promise<Resource>;
  /** Sets the status of a resource, as a controller would. */
  status(resource: Resource, status: Readonly<Record<string, unknown>>): Promise<unknown>;
  /**
   * Puts the files of a pod of that service account into `folder`: token, root of the mesh, labels.
   * Creates the namespace and the account.
   */
  pod(folder: string, namespace: string, account: string): Promise<void>;
  /** Resolves to a token of a service account for the certificate authority. */
  token(namespace: string, account: string): Promise<string>;
}

/** A mesh that belongs to one test, which may stop istiod. */
export interface Kube extends Mesh {
  /** Starts istiod, or starts it again; resolves when it accepts connections. */
  startIstiod(): Promise<void>;
  /** Stops istiod. Then new connections are refused. */
  stopIstiod(): Promise<void>;
  dispose(): Promise<void>;
}

/** Resolves to the mesh that all files of a run share. Each test uses only its own namespaces. */
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

/**
 * Starts a Kubernetes API server and istiod, for a test that stops istiod. Resolves when istiod
 * accepts connections.
 */
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
