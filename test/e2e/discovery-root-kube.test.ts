import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { pluggedAuthority, testIssuer } from '../support/plugged-authority.ts';
import { startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import {
  endKubeProgram,
  kubeProgram,
  type KubeServer,
  portsInARow,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';

if (kubeProgram === undefined)
  leftOut('the root of the mesh in a real Kubernetes API: there is no API server');

const namespace = 'istio-system';

describe.skipIf(kubeProgram === undefined)('the root of the mesh in a Kubernetes API', () => {
  let kube: KubeServer;
  let folder: string;
  let ends: (() => unknown)[];

  beforeAll(async () => {
    kube = await startKubeServer();
  });
  afterAll(() => kube.dispose());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-root-'));
    ends = [];
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true });
    for (const name of ['cacerts', 'istio-ca-secret'])
      await kube
        .ask('DELETE', `/api/v1/namespaces/${namespace}/secrets/${name}`)
        .catch(() => false);
  });

  async function start() {
    const { kubeconfig } = kube;
    const program = await startKubeDiscovery(
      { kubeconfig, folder },
      { ISTIOD_CUSTOM_HOST: '127.0.0.1' },
    );
    ends.push(program.end);
    return program;
  }

  /** Starts an istiod on the same API. */
  async function startIstiod(): Promise<{ readonly secure: number }> {
    const port = await portsInARow(4);
    const istiod = startKubeProgram('istiod', kube.folder, port);
    ends.push(() => endKubeProgram(istiod));
    return { secure: port + 2 };
  }

  const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();
  const dataOf = async (path: string) => {
    const { data } = (await kube.ask('GET', `/api/v1/namespaces/${namespace}/${path}`)) as {
      readonly data: Readonly<Record<string, string>>;
    };
    return data;
  };
  const selfSigned = () => dataOf('secrets/istio-ca-secret');
  const mount = ({ certificate, key, chain, roots }: AuthorityParts) => {
    const parts = { 'ca-cert.pem': certificate, 'ca-key.pem': key, 'cert-chain.pem': chain };
    const data = Object.entries({ ...parts, 'root-cert.pem': roots }).map(([name, value]) => [
      name,
      Buffer.from(value).toString('base64'),
    ]);
    return kube.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'cacerts' },
      data: Object.fromEntries(data) as unknown,
    });
  };
  /** Whether a server sends a certificate that leads to one of the roots by a chain. */
  const isVerified = ({ secure: port }: { readonly secure: number }, ca: string) =>
    new Promise<boolean>((done) => {
      const socket = connect({ port, host: '127.0.0.1', ca }, () => {
        done(true);
        socket.destroy();
      });
      socket.on('error', () => done(false));
    });

  it('is made once by two that start at once, and an istiod beside them takes it', async () => {
    const both = await Promise.all([start(), start()]);
    for (const { ready } of both) await expect.poll(ready).toMatchObject({ status: 200 });
    const root = text((await selfSigned())['ca-cert.pem']);
    expect(new X509Certificate(root).ca).toBe(true);
    for (const program of both) await expect.poll(() => isVerified(program, root)).toBe(true);
    const istiod = await startIstiod();
    await expect.poll(() => isVerified(istiod, root)).toBe(true);
    for (const { text: log } of both) expect(log()).not.toMatch(/PRIVATE KEY|BEGIN|LS0tLS1/);
  });

  it('is that of an istiod that was there first', async () => {
    const istiod = await startIstiod();
    await expect.poll(() => selfSigned().catch(() => undefined)).toBeDefined();
    const root = text((await selfSigned())['ca-cert.pem']);
    const program = await start();
    await expect.poll(() => isVerified(program, root)).toBe(true);
    await expect.poll(() => isVerified(istiod, root)).toBe(true);
  });

  it('is awaited while the API is away, and stays while it is away later', async () => {
    const [first, next] = await Promise.all([
      pluggedAuthority(),
      testIssuer({ subject: 'CN=next' }),
    ]);
    await mount(first);
    await kube.stop();
    const program = await start();
    await expect
      .poll(() => program.lines())
      .toContainEqual(
        expect.objectContaining({
          event: 'discovery.authority_refused',
          reason: expect.stringMatching(/^Secret\/istio-system\/cacerts: .*ECONNREFUSED/) as string,
        }),
      );
    expect(await program.ready()).toMatchObject({ status: 503 });
    await kube.start();
    await expect.poll(() => program.ready()).toMatchObject({ status: 200, body: '' });
    await expect.poll(() => isVerified(program, first.roots)).toBe(true);
    await kube.stop();
    expect(await isVerified(program, first.roots)).toBe(true);
    await kube.start();
    await mount({ ...first, roots: first.roots + next.certificate });
    await expect
      .poll(() => program.lines())
      .toContainEqual(expect.objectContaining({ event: 'discovery.authority_ready', roots: 2 }));
    await expect(selfSigned()).rejects.toThrow('404');
  });
});
