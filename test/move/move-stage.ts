import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { type KubeDiscovery, meshOf, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  endKubeProgram,
  type KubeServer,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { eventually } from '../support/eventually.ts';
import { apps, serviceOf, type Side } from './apps.ts';
import { type Pods, startPods } from './pods.ts';

/** Pods in three namespaces that call each other, and two control planes on one API. */
export interface MoveStage extends Omit<Pods, 'lead'> {
  readonly kube: KubeServer;
  start(side: Side): Promise<void>;
  stop(side: Side): Promise<void>;
  /** Connects agents that look for `service` to a control plane. */
  lead(service: Side, to: Side): Promise<void>;
  /** Resolves to the proxies that a control plane has, as `POD.NAMESPACE`. */
  proxiesOf(side: Side): Promise<readonly string[]>;
  /** Writes this authority to the Secret `cacerts`. */
  plug(parts: AuthorityParts): Promise<void>;
  /** Returns the lines of the log of `pilot-discovery`. */
  lines: KubeDiscovery['lines'];
}

export const system = 'istio-system';

/** @param lifetime how long certificates last, as in `60s` */
export async function startMoveStage(
  authority: AuthorityParts,
  lifetime: string,
): Promise<MoveStage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-move-'));
  const kube = await startKubeServer();
  const plug = async (parts: AuthorityParts): Promise<void> => {
    await kube.apply(cacerts(parts));
    // istiod reads the Secret from a volume.
    writeKubernetesVolume(
      join(kube.folder, `istiod-${istiodPort}`, 'etc/cacerts'),
      authorityFiles(parts),
    );
  };
  const istiodPort = await portsInARow(4);
  await plug(authority);
  await kube.apply(strict);
  const pods = await startPods(kube, apps, { SECRET_TTL: lifetime });
  let [istiod, ours]: [ChildProcess | undefined, KubeDiscovery | undefined] = [
    undefined,
    undefined,
  ];
  const secureOf = (side: Side) => (side === 'istiod' ? istiodPort + 2 : (ours?.secure ?? 0));
  const start = async (side: Side): Promise<void> => {
    if (side === 'istiod') {
      istiod = startKubeProgram('istiod', kube.folder, istiodPort);
      await eventually(() => connects(istiodPort + 2));
    } else {
      ours = await startKubeDiscovery(
        { kubeconfig: kube.kubeconfig, folder },
        { ISTIOD_CUSTOM_HOST: serviceOf['pilot-discovery'], POD_NAMESPACE: system },
        ...['--domain', 'cluster.local'],
      );
      await meshOf(kube, ours);
    }
  };
  return {
    ...{ ...pods, kube, start },
    lead: (service, to) => pods.lead(service, secureOf(to)),
    lines: (event) => ours?.lines(event) ?? [],
    async stop(side) {
      if (side === 'istiod') {
        await endKubeProgram(istiod);
        istiod = undefined;
      } else {
        await ours?.end();
        ours = undefined;
      }
    },
    async proxiesOf(side) {
      const port = side === 'istiod' ? istiodPort + 1 : (ours?.http ?? 0);
      const { body } = await ask(port, '/debug/syncz');
      const names = body.matchAll(/"proxy": ?"([^"]+)"/g);
      return [...names].map(([, name = '']) => name);
    },
    plug,
    async dispose() {
      await pods.dispose();
      await ours?.end();
      await endKubeProgram(istiod);
      await kube.dispose();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A PeerAuthentication with which no pod of the mesh accepts plain text. */
export const strict: Resource = {
  apiVersion: 'security.istio.io/v1',
  kind: 'PeerAuthentication',
  metadata: { name: 'default', namespace: system },
  spec: { mtls: { mode: 'STRICT' } },
};

/** Returns an authority as files of the folder `cacerts`. */
export const authorityFiles = ({ certificate, key, chain, roots }: AuthorityParts) => ({
  'ca-cert.pem': certificate,
  'ca-key.pem': key.toString(),
  'cert-chain.pem': chain,
  'root-cert.pem': roots,
});

const cacerts = (parts: AuthorityParts): Resource => {
  const data = Object.entries(authorityFiles(parts)).map(([name, text]) => [
    name,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: system, name: 'cacerts' },
    data: Object.fromEntries(data) as unknown,
  };
};
