import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import type { Mesh } from '../support/e2e/kube.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';
import { makeSidecar, ports, type SidecarPod } from '../support/e2e/sidecar-pod.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';

const isPossible = kubeProgram !== undefined && hasNetworks;
if (kubeProgram === undefined) leftOut('the place of istiod, taken', 'a program');
else if (!hasNetworks) leftOut('the place of istiod, taken in networks of their own');

const namespace = 'shop';

interface Line extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

describe.skipIf(!isPossible)('pilot-discovery in the place of istiod', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-drop-in-'));
  const ends: (() => unknown)[] = [];
  let kube: KubeServer;
  let network: Network;
  let mesh: Mesh;
  let lines: (event: string) => readonly Line[];

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
    await kube.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio-ca-root-cert', namespace },
      data: { 'root-cert.pem': authority.roots },
    });
    mesh = await start();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await kube.dispose();
    network.dispose();
    rmSync(folder, { recursive: true });
  });

  /** Starts the control plane, as a pod of istiod has it. */
  async function start(): Promise<Mesh> {
    const [plain = 0, secure = 0, http = 0] = await freePorts(3);
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--monitoringAddr', ''],
        ...['--kubeconfig', kube.kubeconfig, '--grpcAddr', `127.0.0.1:${plain}`],
        ...['--secureGRPCAddr', `127.0.0.1:${secure}`, '--httpAddr', `127.0.0.1:${http}`],
        ...['--domain', 'cluster.local', '--log_output_level=default:info'],
      ],
      { buffer: false, reject: false, cwd: folder },
    );
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (log += piece));
    lines = (event) =>
      log
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => line.event === event);
    await eventually(async () => (await ask(http, '/ready')).status === 200);
    await eventually(() => connects(secure));
    return {
      istiodPort: secure,
      plaintextPort: plain,
      apply: (resource) => kube.apply(resource),
      status: (resource, status) => kube.status(resource, status),
      pod: async (place, ofPod, account) => {
        await promisify(execFile)(kubeProgram ?? '', ['pod', kube.folder, place, ofPod, account]);
      },
      token: (ofPod, account) => kube.token(ofPod, account),
    };
  }

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
    const issued = lines('discovery.certificate_issued').map((line) => line['identity']);
    expect(new Set(issued)).toEqual(new Set(['server', 'client'].map(identity)));
    expect(lines('discovery.caller_refused')).toEqual([]);
    expect(lines('discovery.rejected')).toEqual([]);
  });
});
