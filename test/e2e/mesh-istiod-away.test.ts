import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type Kube, kubeProgram, startKube } from '../support/e2e/kube.ts';
import { makePod, type MeshPod } from '../support/e2e/mesh-pod.ts';
import type { RunningAgent } from '../support/e2e/rig.ts';
import { broken, unserved, untrue, watchPod } from '../support/e2e/watch-pod.ts';

/**
 * The time that istiod is away, in ms. It is longer than the 30 s after which an Envoy without a
 * control plane is LIVE without its listeners.
 */
const away = 33_000;
/**
 * The longest time, in ms, until an Envoy that starts has its listeners of the mesh, if the agent
 * has their resources.
 */
const soon = 15_000;
/** The longest time, in ms, from the return of istiod to a certificate. */
const again = 10_000;

const names = ['restarts', 'crashes', 'agent-ends', 'comes-late', 'asks-itself'] as const;
type Name = (typeof names)[number];

let kube: Kube;
let upstream: Upstream;
const pods = new Map<Name, MeshPod>();
const agents = new Map<Name, RunningAgent>();
/** Resolves when istiod serves again, to that time in ms since 1970. */
let back: Promise<number>;

if (kubeProgram === undefined)
  leftOut('the tests of a mesh whose control plane is away', 'a program');

/** The tests run at once, so all pods go through the same minute. */
describe
  .skipIf(kubeProgram === undefined)
  .concurrent('while istiod is away', { timeout: away + 150_000 }, () => {
    beforeAll(async () => {
      [kube, upstream] = await Promise.all([startKube(), startUpstream()]);
      // An RSA key takes seconds on a machine under load.
      for (const name of names)
        pods.set(
          name,
          await makePod(kube, upstream.port, { name, env: { ECC_SIGNATURE_ALGORITHM: 'ECDSA' } }),
        );
      const early = names.filter((name) => name !== 'comes-late' && name !== 'asks-itself');
      for (const name of early) agents.set(name, podOf(name).start());
      for (const name of early) await isReady(podOf(name));
      await kube.stopIstiod();
      back = sleep(away)
        .then(() => kube.startIstiod())
        .then(() => Date.now());
    });
    afterAll(async () => {
      await Promise.all([...pods.values()].map((pod) => pod.dispose()));
      await back;
      await Promise.all([kube.dispose(), upstream.close()]);
    }, away + 60_000);

    it('a hot restart is seen by nobody', async ({ expect }) => {
      const pod = podOf('restarts');
      const watch = watchPod(pod);
      expect(await pod.restart()).toMatchObject({ status: 200 });
      await agents.get('restarts')?.said('epoch.live', 1);
      await follows(pod);
      const samples = await watch.stop();
      expect(broken(samples)).toEqual([]);
      expect(untrue(samples)).toEqual([]);
    });

    it('an Envoy that crashes has its listeners and its certificate again within 15 s', async ({
      expect,
    }) => {
      const pod = podOf('crashes');
      const watch = watchPod(pod);
      process.kill(pod.envoys()[0] ?? 0, 'SIGKILL');
      await follows(pod);
      const samples = await watch.stop();
      expect(broken(samples.filter(({ at: time }) => time > soon))).toEqual([]);
      expect(untrue(samples)).toEqual([]);
    });

    it('an agent that starts again serves what the one before has left, and says that it has no certificate', async ({
      expect,
    }) => {
      const pod = podOf('agent-ends');
      agents.get('agent-ends')?.kill('SIGTERM');
      await agents.get('agent-ends')?.exit;
      pod.start();
      const watch = watchPod(pod);
      await eventually(async () => /secret (ROOTCA|default)/.test((await pod.ready()).body), {
        within: soon,
      });
      await follows(pod);
      const samples = await watch.stop();
      const left = samples.filter(({ at: time }) => time > soon && time < away);
      expect(unserved(left)).toEqual([]);
      expect(untrue(samples)).toEqual([]);
    });

    it('an agent that starts for the first time says what is wrong with the control plane, and waits', async ({
      expect,
    }) => {
      const pod = podOf('comes-late');
      const agent = pod.start();
      const watch = watchPod(pod);
      const address = `localhost:${kube.istiodPort}`;
      await eventually(
        () =>
          agent
            .log()
            .some(
              ({ level, msg, ...others }) =>
                level === 'warn' && `${msg} ${JSON.stringify(others)}`.includes(address),
            ),
        { within: soon },
      );
      const refused = (whom: string) => `${whom} ${address}: connection refused, since 2`;
      const why = `^no certificate yet: ${refused('certificate authority')}.*; ${refused('control plane')}`;
      await expect
        .poll(() => pod.ready())
        .toMatchObject({ status: 503, body: expect.stringMatching(why) as string });
      expect(await certified(agent)).toBeLessThan(again);
      await follows(pod);
      expect(untrue(await watch.stop())).toEqual([]);
    });

    it('an agent whose Envoy connects itself has its certificate within seconds of its return, and names the authority until then', async ({
      expect,
    }) => {
      const pod = podOf('asks-itself');
      const agent = pod.start(['--xdsProxy=false']);
      const why = `^no certificate yet: certificate authority localhost:${kube.istiodPort}: connection refused, since`;
      await expect
        .poll(() => pod.ready())
        .toMatchObject({ status: 503, body: expect.stringMatching(why) as string });
      expect(await certified(agent)).toBeLessThan(again);
      await follows(pod);
    });
  });

function podOf(name: Name): MeshPod {
  const pod = pods.get(name);
  if (pod === undefined) throw new Error(`${name}: there is no such pod`);
  return pod;
}

/** Resolves to the time, in ms, from the return of istiod until an agent has a certificate. */
async function certified(agent: RunningAgent): Promise<number> {
  const since = await back;
  await agent.said('certificate.issued');
  return Date.now() - since;
}

const isReady = (pod: MeshPod) => eventually(async () => (await pod.ready()).status === 200);

/** Waits until istiod is back, a pod follows a change of the mesh, and the pod is ready. */
async function follows(pod: MeshPod): Promise<void> {
  await back;
  const [port = 0] = await freePorts(1);
  await pod.serve(port);
  await eventually(async () => (await pod.request('outbound', port)).status === 200);
  await isReady(pod);
}
