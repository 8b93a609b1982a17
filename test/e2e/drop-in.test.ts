import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogEvent } from '../../src/shared/log/log-event.ts';
import { leftOut } from '../support/left-out.ts';
import { type DroppedIn, dropIn } from '../support/e2e/dropped-in.ts';
import { injectedPods } from '../support/e2e/injected.ts';
import { type Mesh, kubeProgram, sharedKube } from '../support/e2e/kube.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';

const isPossible = kubeProgram !== undefined && hasNetworks;
if (kubeProgram === undefined) leftOut('the place of a Go agent, taken', 'a program');
else if (!hasNetworks) leftOut('the place of a Go agent, taken in a network of its own');

describe.skipIf(!isPossible)('in the place of the Go agent, with its ports and paths,', () => {
  let kube: Mesh;
  let network: Network;
  beforeAll(async () => {
    kube = await sharedKube();
    network = makeNetwork();
  });
  afterAll(() => network.dispose());

  it.each(injectedPods.map((by, number) => ({ number, ...by })))(
    'Envoy is LIVE and ready as a pod that $by has made starts it, and nothing is warned of but what is expected',
    async ({ number, ...by }) => {
      const pod: DroppedIn = await dropIn(kube, network, `pod${number}`, by);
      try {
        await pod.agent.said('epoch.live', 0);
        await expect.poll(() => pod.ready()).toMatchObject({ status: 200 });
        expect(await pod.admin('/ready')).toEqual({ status: 200, body: 'LIVE\n' });
        const warned = (event: LogEvent) =>
          pod.agent.log().filter((line) => line.event === event && line.level !== 'info');
        expect(warned('config.warning').map((line) => line['warning'])).toEqual(by.warnings);
        expect(warned('envoy.log').map(({ msg }) => msg)).toEqual([]);
        expect(pod.agent.errors()).toBe('');
        // The hook of a pod of Istio 1.26 runs this command before the pod ends.
        expect(await pod.run('request', '--debug-port=15020', 'POST', 'drain')).toBe(0);
        await pod.agent.said('drain.requested');
      } finally {
        await pod.dispose();
      }
    },
  );
});
