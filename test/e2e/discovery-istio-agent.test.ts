import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { hasIstioAgent } from '../support/e2e/istio-agent.ts';
import { hostOf, identity, istiodPlace, namespace, strict } from '../support/e2e/istiod-place.ts';
import { kubeProgram } from '../support/e2e/kube-server.ts';
import { hasNetworks } from '../support/e2e/network.ts';
import { leftOut } from '../support/left-out.ts';

const isPossible = kubeProgram !== undefined && hasIstioAgent && hasNetworks;
if (kubeProgram === undefined || !hasIstioAgent)
  leftOut("Istio's agent over pilot-discovery", 'a program');
else if (!hasNetworks) leftOut("Istio's agent over pilot-discovery, in networks of their own");

describe.skipIf(!isPossible)("Istio's own agent over pilot-discovery", () => {
  const place = istiodPlace();

  it('gets its certificate by token, its configuration, and calls by STRICT mTLS both ways', async () => {
    const { kube, program, sidecar, issued } = place();
    await kube.apply(strict);
    const theirs = await sidecar('theirs', 'Istio');
    const ours = await sidecar('ours');
    const toOurs = await theirs.connection(ours);
    const toTheirs = await ours.connection(theirs);
    for (const [client, server, connection] of [
      [theirs, ours, toOurs],
      [ours, theirs, toTheirs],
    ] as const) {
      const get = () => ask(connection, '/', { host: hostOf(server.name) });
      await expect.poll(get).toMatchObject({ status: 200 });
      const { body } = await get();
      expect(body).toContain(`By=${identity(server.name)};`);
      expect(body).toContain(`URI=${identity(client.name)}"`);
    }
    // It has its configuration by delta xDS, from the secure port, and follows changes.
    await kube.apply({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'ours', namespace },
      spec: {
        hosts: [`ours.${namespace}.svc.cluster.local`],
        http: [{ directResponse: { status: 418 } }],
      },
    });
    await expect
      .poll(() => ask(toOurs, '/', { host: hostOf('ours') }))
      .toMatchObject({ status: 418 });
    expect(issued()).toEqual(new Set(['theirs', 'ours'].map(identity)));
    for (const event of ['caller_refused', 'certificate_refused', 'rejected', 'stream_refused'])
      expect(program.lines(`discovery.${event}`)).toEqual([]);
  });
});
