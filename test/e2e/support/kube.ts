import { type ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connects } from '../../support/connects.ts';
import { eventually } from '../../support/eventually.ts';
import { endKubeProgram, kubeProgram, pathOf, portsInARow, type Resource, startKubeProgram, startKubeServer } from './kube-server.ts';

export { kubeProgram };

/** A real Kubernetes API server, without nodes, and a real istiod on it. */
export interface Kube {
  /** Where istiod takes agents: xDS and certificates, over TLS. */
  readonly istiodPort: number;
  /** Where it takes them without TLS: xDS alone. */
  readonly plaintextPort: number;
  /** Starts istiod, or starts it again; resolves when it takes connections. */
  startIstiod(): Promise<void>;
  /** Its connections are refused from then on. */
  stopIstiod(): Promise<void>;
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
  dispose(): Promise<void>;
}

/** Resolves when the API answers and istiod takes connections, after about 8 s. */
export async function startKube(): Promise<Kube> {
  const istiod = await portsInARow(4);
  const server = await startKubeServer();
  let control: ChildProcess | undefined;

  const kube: Kube = {
    istiodPort: istiod + 2,
    plaintextPort: istiod,
    async startIstiod() {
      control = startKubeProgram('istiod', server.folder, istiod);
      await eventually(() => connects(istiod + 2), { within: 20_000 });
    },
    async stopIstiod() {
      await endKubeProgram(control);
      control = undefined;
      await eventually(async () => !(await connects(istiod + 2)), { within: 5_000 });
    },
    apply: (resource) => server.apply(resource),
    status: (resource, status) => server.ask('PATCH', `${pathOf(resource)}/status`, { status }, 'application/merge-patch+json'),
    pod: async (at, namespace, account) => {
      await promisify(execFile)(kubeProgram ?? '', ['pod', server.folder, at, namespace, account], { encoding: 'utf8' });
    },
    token: (namespace, account) => server.token(namespace, account),
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
