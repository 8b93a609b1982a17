import { writeFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import { hasOtherTimes, type Instance } from './control-planes.ts';
import { makeCrowd } from './crowd.ts';
import {
  backUp,
  compact,
  coreKinds,
  expiredToken,
  forgotten,
  type KubeStage,
} from './kube-stage.ts';
import { type Outage, pause } from './outage.ts';
import { after, before, inEffect } from './run-outages.ts';

/** The texts that report an API that cannot be reached. */
const unreachable = /ECONNREFUSED|ECONNRESET|socket hang up|socket disconnected/;
/** The time for which the API is away, in ms. */
const away = 60_000;

/** Breaks the connections to the API for `ms`, so that each watch begins again. */
async function cut({ relay }: KubeStage, ms: number): Promise<void> {
  await relay.close();
  await pause(ms);
  await relay.open();
}

const named = async ({ instance }: KubeStage, text: RegExp): Promise<void> => {
  const end = performance.now() + 120_000;
  while (!text.test((await instance().said()).ready)) {
    if (performance.now() > end) throw new Error(`/ready does not say ${String(text)} in 2 min`);
    await pause(100);
  }
};

const change = ({ kube }: KubeStage, count: number) =>
  kube.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'changed' },
    data: { count: String(count) },
  });

export const kubeOutages: readonly Outage<KubeStage>[] = [
  {
    name: 'the API is killed for 60 s, and comes back with the data of a backup',
    named: unreachable,
    async run(world, over) {
      await world.kube.stop();
      const restore = backUp(world.kube);
      await world.kube.start();
      for (let count = 0; count < 200; count++) await change(world, count);
      await world.mark(after);
      await inEffect(world, after);
      await world.kube.stop();
      restore();
      await pause(away);
      await world.kube.start();
      over();
      await inEffect(world, before);
      await world.mark(before);
    },
  },
  {
    name: 'the API has forgotten the version (410), after a compaction',
    // Watches that are silent for 150 s begin again from a version that the API has forgotten. The
    // control plane lists the objects then; that is not worth a line of the log.
    named: 'nothing',
    async run(world, over) {
      world.relay.silence();
      const { resourceVersion = '' } = (await change(world, 0)).metadata;
      for (let count = 1; count < 200; count++) await change(world, count);
      await compact(world.kube);
      await world.kube.stop();
      await world.kube.start();
      await forgotten(world.kube, resourceVersion);
      over();
    },
  },
  {
    name: 'the right to read Pods is taken away, and given back',
    named: /pods is forbidden/,
    async run(world, over) {
      await world.allow(coreKinds.filter((kind) => kind !== 'pods'));
      await cut(world, 1_000);
      await named(world, /pods is forbidden/);
      await pause(10_000);
      await world.allow(coreKinds);
      over();
    },
  },
  {
    name: 'the token expires, and is replaced',
    named: /has expired/,
    async run(world, over) {
      writeFileSync(world.tokenFile, await expiredToken(world.kube));
      await cut(world, 1_000);
      await named(world, /has expired/);
      await pause(10_000);
      const audience = 'https://kubernetes.default.svc';
      writeFileSync(world.tokenFile, await world.kube.token('default', 'discovery', audience));
      over();
    },
  },
  {
    name: '10,000 Pods are listed while 200 a second change',
    named: unreachable,
    async run(world, over) {
      const crowd = await makeCrowd(world.kube, 10_000);
      const changes = crowd.change(200);
      try {
        await cut(world, 3_000);
        over();
        await untilRead(world);
      } finally {
        await changes.stop();
      }
      console.log(`${crowd.changed()} changes of Pods`);
    },
  },
  {
    name: 'one of two control planes is killed',
    named: 'nothing',
    async run(world, over) {
      const [first, second] = [world.instance(), await world.start()];
      await untilReady(second);
      await first.end('SIGKILL');
      await world.sendTo(second);
      over();
    },
  },
  ...(hasOtherTimes ? (['+10m', '-10m'] as const) : []).map((clock): Outage<KubeStage> => ({
    name: `the clock of the control plane is wrong: ${clock}`,
    named: 'nothing',
    async run(world, over) {
      const [first, wrong] = [world.instance(), await world.start(clock)];
      await untilReady(wrong);
      await world.sendTo(wrong);
      await first.end('SIGTERM');
      await pause(10_000);
      over();
    },
  })),
];

const untilReady = (instance: Instance) => eventually(async () => (await instance.said()).isReady);

const untilRead = ({ instance }: KubeStage) =>
  eventually(async () => (await instance().said()).ready === '', { within: 180_000 });
