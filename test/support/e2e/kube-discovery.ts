import { resolve } from 'node:path';
import { execa } from 'execa';
import { ask } from '../ask.ts';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from '../free-ports.ts';
import type { Mesh } from './kube.ts';
import type { KubeApi } from './kube-server.ts';

/** A line of the log of a control plane. */
export interface DiscoveryLine extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

/** A control plane that runs over a Kubernetes API. */
export interface KubeDiscovery {
  readonly plain: number;
  readonly secure: number;
  readonly http: number;
  readonly monitoring: number;
  readonly ready: () => ReturnType<typeof ask>;
  /** Returns the lines of its log, or only those of one event. */
  readonly lines: (event?: string) => readonly DiscoveryLine[];
  /** Returns its whole output so far. */
  readonly text: () => string;
  readonly end: () => Promise<unknown>;
  readonly kill: () => Promise<unknown>;
}

/** Starts a control plane over the API of a kubeconfig, in a folder. */
export async function startKubeDiscovery(
  { kubeconfig, folder }: { readonly kubeconfig: string; readonly folder: string },
  env: Readonly<Record<string, string>> = {},
  ...more: readonly string[]
): Promise<KubeDiscovery> {
  const [plain = 0, secure = 0, http = 0, monitoring = 0] = await freePorts(4);
  const listen = {
    ...{ grpcAddr: plain, secureGRPCAddr: secure },
    ...{ httpAddr: http, monitoringAddr: monitoring },
  };
  const child = execa(
    process.execPath,
    [
      ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--registries', 'Kubernetes'],
      ...['--kubeconfig', kubeconfig, ...more],
      ...Object.entries(listen).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
    ],
    { buffer: false, reject: false, cwd: folder, env },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const lines = (event?: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as DiscoveryLine)
      .filter((line) => event === undefined || line.event === event);
  return {
    ...{ plain, secure, http, monitoring, lines, text: () => text },
    ready: () => ask(http, '/ready'),
    end: () => (child.kill('SIGTERM'), child),
    kill: () => (child.kill('SIGKILL'), child),
  };
}

/** Resolves to a mesh in which a control plane replaces istiod, when the control plane is ready. */
export async function meshOf(kube: KubeApi, program: KubeDiscovery): Promise<Mesh> {
  await eventually(async () => (await program.ready()).status === 200);
  await eventually(() => connects(program.secure));
  return {
    istiodPort: program.secure,
    plaintextPort: program.plain,
    apply: (resource) => kube.apply(resource),
    status: (resource, status) => kube.status(resource, status),
    pod: (place, namespace, account) => kube.pod(place, namespace, account),
    token: (namespace, account) => kube.token(namespace, account),
  };
}
