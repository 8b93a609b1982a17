import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Issued } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { ask } from '../support/ask.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import {
  kubeProgram,
  type KubeServer,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

if (kubeProgram === undefined)
  leftOut('secrets of a gateway from a real Kubernetes API', 'a program');

/** The command that mounts the folder of an ingress gateway, which no other process sees. */
const ownRun = [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount -t tmpfs tmpfs /run && mkdir /run/ingress_gateway && exec "$@"',
  'sh',
];
const canMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
if (!canMount) leftOut('the folder of an ingress gateway');

const tls = (name: string, { certChain, key }: Issued): Resource => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name, namespace: 'ns' },
  data: {
    'tls.crt': Buffer.from(certChain).toString('base64'),
    'tls.key': Buffer.from(key).toString('base64'),
  },
});

describe.skipIf(kubeProgram === undefined)(
  'the secrets of a gateway, from the Kubernetes API',
  () => {
    let kube: KubeServer;
    const rigs: Rig[] = [];
    beforeAll(async () => {
      kube = await startKubeServer();
      await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } });
    });
    afterEach(() => Promise.all(rigs.splice(0).map((rig) => rig.dispose())));
    afterAll(() => kube.dispose());

    const rigFor = async () => {
      const rig = await makeRig({ secret: 'shop' });
      rigs.push(rig);
      return rig;
    };
    const serves = (rig: Rig, { serial }: Issued) =>
      expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(serial);

    it('a hundred updates under load: each is pushed once, the newest is served, through an outage too; nothing fails', async () => {
      const rig = await rigFor();
      const fallback = await rig.ca.issue();
      await kube.apply(tls('gateway-fallback', fallback));
      const agent = rig.start([], {
        role: 'router',
        env: { GATEWAY_SECRETS: 'kubernetes://', KUBECONFIG: kube.kubeconfig },
      });
      await serves(rig, fallback);
      const load = startLoad({
        port: rig.ports.listen,
        tls: { ca: rig.ca.rootCert },
        mode: 'new-connection',
        clients: 2,
        pause: 10,
        maxDuration: 120_000,
      });
      const pushed = () =>
        agent
          .log()
          .filter(({ event, ...line }) => event === 'secret.accepted' && line['secret'] === 'shop')
          .length;
      // Envoy serves a secret before it ACKs it.
      await expect.poll(pushed).toBe(1);
      const before = pushed();
      let last = fallback;
      for (let n = 1; n <= 100; n += 1) {
        last = await rig.ca.issue();
        await kube.apply(tls('shop', last));
        await serves(rig, last);
      }
      await expect.poll(() => pushed() - before).toBe(100);

      await kube.stop();
      await expect
        .poll(() => agent.log())
        .toContainEqual(
          expect.objectContaining({
            event: 'source.unreadable',
            source: 'gateway',
            reason: expect.stringContaining('ECONNREFUSED') as string,
          }),
        );
      expect((await ask(rig.ports.status, '/healthz/ready')).status).toBe(200);
      await kube.start();
      last = await rig.ca.issue();
      await kube.apply(tls('shop', last));
      await serves(rig, last);
      await expect.poll(() => agent.log().map(({ event }) => event)).toContain('source.read_again');
      await expect.poll(() => pushed() - before).toBe(101);
      await kube.remove(tls('shop', last));
      await expect
        .poll(() => agent.log())
        .toContainEqual(
          expect.objectContaining({
            event: 'secret.refused',
            secret: 'shop',
            reason: 'Secret ns/shop: it is not there',
          }),
        );
      await serves(rig, last);

      const { failed, errors } = await load.stop();
      expect([failed, [...errors]]).toEqual([0, []]);
      expect(pushed() - before).toBe(101);
      expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
      expect(agent.output()).not.toMatch(/PRIVATE KEY|admin-token/);
      agent.kill('SIGTERM');
      expect(await agent.exit).toEqual({ code: 0, signal: null });
    });

    it.skipIf(!canMount)(
      'a router with the folder of an ingress gateway takes them without being told, and serves them there too',
      async () => {
        const rig = await rigFor();
        const issued = await rig.ca.issue();
        await kube.apply(tls('shop', issued));
        const agent = rig.start([], {
          role: 'router',
          wrap: ownRun,
          env: { KUBECONFIG: kube.kubeconfig },
        });
        await serves(rig, issued);
        expect(
          readlinkSync(join('/proc', String(agent.pid), 'root', 'run/ingress_gateway/sds')),
        ).toBe(join(rig.folder, 'run', 'SDS'));
        agent.kill('SIGTERM');
        expect(await agent.exit).toEqual({ code: 0, signal: null });
      },
    );

    it('one that may not read them says so, and what to do', async () => {
      const rig = await rigFor();
      const { kubeconfig } = await kube.account('ns', 'nobody');
      const agent = rig.start([], {
        role: 'router',
        env: { GATEWAY_SECRETS: 'kubernetes://ns', KUBECONFIG: kubeconfig },
      });
      const reason = expect.stringMatching(
        /403 secrets is forbidden: .* \(allow it by a Role with list and watch, and a RoleBinding\)$/,
      ) as string;
      await expect
        .poll(() => agent.log())
        .toContainEqual(expect.objectContaining({ event: 'source.unreadable', reason }));
      await expect
        .poll(() => agent.log())
        .toContainEqual(
          expect.objectContaining({ event: 'secret.missing', secret: 'shop', reason }),
        );
    });
  },
);
