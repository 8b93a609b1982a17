import { join } from 'node:path';
import { beforeAll, describe, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { type Mesh, kubeProgram, sharedKube } from '../support/e2e/kube.ts';
import { canCapture, hasNetworks, makeNetwork } from '../support/e2e/network.ts';
import {
  type InterceptionMode,
  makeSidecar,
  ports,
  type SidecarPod,
} from '../support/e2e/sidecar-pod.ts';

const isPossible = kubeProgram !== undefined && hasNetworks;
if (kubeProgram === undefined) leftOut('mTLS between two sidecars', 'a program');
else if (!hasNetworks) leftOut('mTLS between two sidecars in networks of their own');
else if (!canCapture)
  leftOut('mTLS between two sidecars that capture connections: nft', 'a program');

const modes: readonly { readonly mode: InterceptionMode; readonly how: string }[] = [
  { mode: 'NONE', how: 'by the ports of its sidecar' },
  ...(canCapture
    ? [{ mode: 'REDIRECT', how: 'by a sidecar that captures its connections' } as const]
    : []),
];
/** The lifetime of the certificates: each is renewed twice while a parent drains. */
const env = { SECRET_TTL: '15s' };

describe
  .skipIf(!isPossible)
  .concurrent('an application asks another over mTLS that is STRICT', { timeout: 300_000 }, () => {
    let kube: Mesh;
    beforeAll(async () => {
      kube = await sharedKube();
    });

    it.for(modes)(
      'with its identity, not without; and nothing fails while both hot-restart and rotate: $how',
      async ({ mode }, { expect }) => {
        const network = makeNetwork();
        const namespace = mode.toLowerCase();
        const pods: SidecarPod[] = [];
        const identity = (name: string) => `spiffe://cluster.local/ns/${namespace}/sa/${name}`;
        const host = `server.${namespace}.svc.cluster.local:${ports.service}`;
        try {
          const strict = { mtls: { mode: 'STRICT' } };
          const server = await makeSidecar(kube, network, { name: 'server', namespace, mode, env });
          pods.push(server);
          await kube.apply({
            apiVersion: 'security.istio.io/v1',
            kind: 'PeerAuthentication',
            metadata: { name: 'default', namespace },
            spec: strict,
          });
          const client = await makeSidecar(kube, network, { name: 'client', namespace, mode, env });
          pods.push(client);
          for (const pod of pods)
            await expect.poll(() => pod.ready()).toMatchObject({ status: 200 });

          const application = await client.connection(server);
          await expect.poll(() => ask(application, '/', { host })).toMatchObject({ status: 200 });
          const headers = JSON.parse((await ask(application, '/', { host })).body) as Record<
            string,
            string
          >;
          const certificate = `By=${identity('server')};Hash=[0-9a-f]{64};Subject="";URI=${identity('client')}`;
          expect(headers['x-forwarded-client-cert']).toMatch(new RegExp(`^${certificate}$`));
          const stranger = join(network.folder, 'stranger');
          await network.outside.relay([[stranger, `${server.address}:${ports.application}`]]);
          expect(await ask(stranger, '/', { host })).toMatchObject({ status: 0 });

          const load = startLoad({
            port: application,
            host,
            mode: 'keep-alive',
            clients: 2,
            pause: 5,
            maxDuration: 300_000,
          });
          const unready: string[] = [];
          const looks = setInterval(() => {
            for (const pod of pods)
              void pod
                .ready()
                .then(
                  ({ status, body }) =>
                    status === 200 || unready.push(`${pod.name}: ${status} ${body}`),
                );
          }, 100);
          for (const pod of pods) expect(await pod.restart()).toMatchObject({ status: 200 });
          for (const { agent } of pods)
            await expect
              .poll(() => agent.log())
              .toContainEqual(expect.objectContaining({ event: 'epoch.ended', epoch: 0 }));
          clearInterval(looks);
          expect(await load.stop()).toMatchObject({ failed: 0, errors: new Map() });
          expect(unready).toEqual([]);
          for (const { agent } of pods)
            expect(
              agent.log().filter(({ event }) => event === 'certificate.issued').length,
            ).toBeGreaterThan(2);
          expect(await ask(stranger, '/', { host })).toMatchObject({ status: 0 });
        } finally {
          await Promise.all(pods.map((pod) => pod.dispose()));
          network.dispose();
        }
      },
    );
  });
