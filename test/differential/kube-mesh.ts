import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { connects } from '../support/connects.ts';
import {
  type KubeServer,
  applyWithStatus,
  pathOf,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';

/** A Kubernetes API, and a control plane that reads it. */
export interface KubeMesh {
  readonly kube: KubeServer;
  /** The port of ADS. */
  readonly port: number;
  /**
   * Makes objects, each with its status, and resolves to those that the API then has. Leaves out
   * objects that the API refuses, or whose kind it does not have.
   */
  make(resources: readonly Resource[]): Promise<readonly Resource[]>;
  remove(resources: readonly Resource[]): Promise<void>;
  dispose(): Promise<void>;
}

/** The errors of the API if it refuses the content of an object, or does not have its kind. */
const isLeftOut = /: (?:422 .*"Invalid"|404 404 page not found)/;

/** A control plane of ours that reads an API. */
export interface KubeReader {
  /** The port of ADS. */
  readonly port: number;
  dispose(): Promise<void>;
}

/** Starts a control plane that reads an API; resolves when it takes connections. */
export async function startKubeReader(
  kube: KubeServer,
  env: Readonly<Record<string, string>> = {},
): Promise<KubeReader> {
  const [port = 0] = await freePorts(1);
  const mesh = join(kube.folder, 'mesh.yaml');
  writeFileSync(mesh, '');
  const child = execa(
    process.execPath,
    [
      ...[resolve('dist/pilot-discovery.cjs'), 'discovery'],
      ...['--kubeconfig', kube.kubeconfig, '--meshConfig', mesh, '--massRemovalHold', '0s'],
      ...['--grpcAddr', `127.0.0.1:${port}`, '--httpAddr', '', '--monitoringAddr', ''],
    ],
    {
      stdio: ['ignore', { file: join(kube.folder, 'ours.log') }, 'ignore'],
      reject: false,
      cwd: kube.folder,
      env,
    },
  );
  await eventually(() => connects(port));
  return {
    port,
    async dispose() {
      child.kill('SIGKILL');
      await child;
    },
  };
}

/** Starts an API and a control plane that reads it; resolves when that takes connections. */
export async function startKubeMesh(namespaces: Iterable<string>): Promise<KubeMesh> {
  const kube = await startKubeServer();
  for (const name of namespaces)
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const reader = await startKubeReader(kube);
  return {
    kube,
    port: reader.port,
    async make(resources) {
      const results = await Promise.allSettled(
        resources.map((resource) => applyWithStatus(kube, resource)),
      );
      return results.flatMap((result) => {
        if (result.status === 'fulfilled') return [result.value];
        if (isLeftOut.test(String(result.reason))) return [];
        throw result.reason;
      });
    },
    async remove(resources) {
      await Promise.all(
        [...new Set(resources.filter(({ kind }) => kind !== 'Namespace').map(pathOf))].map((path) =>
          kube.ask('DELETE', `${path}?gracePeriodSeconds=0`),
        ),
      );
    },
    async dispose() {
      await reader.dispose();
      await kube.dispose();
    },
  };
}
