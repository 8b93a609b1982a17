import { get } from 'node:https';
import { expect } from 'vitest';
import type { Part } from '../../../src/pilot-agent/run/state/part.ts';
import type { Clear } from '../cleared-after.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from '../free-ports.ts';
import { heldAnswer, heldUpstream } from './held-upstream.ts';
import { arm, faultEnv, inject } from './inject.ts';
import { type LoadOfBoth, underLoad } from './load-of-both.ts';
import { failuresOf, partFaults, type Scene, servesNewest, writeNew } from './part-faults.ts';
import { makeRig, type Rig, type RunningAgent } from './rig.ts';

/**
 * Makes a part fail, in a run from the rig to the end of its agent. `clear` receives the actions
 * that clean up afterwards.
 */
type Moment = (part: Part, clear: Clear) => Promise<RunningAgent>;

export const moments = {
  'at the start': async (part, clear) => {
    const { rig, stsPort, start } = await prepare(part, clear);
    const { fault, given } = partFaults[part];
    arm(rig, fault, given?.(rig, stsPort));
    const scene = start();
    await isToldAndBack(part, scene);
    await eventually(async () => (await rig.ready()).status === 200);
    return goesOn(scene, await load(rig, clear));
  },

  'while it runs': async (part, clear) => {
    const { rig, start } = await prepare(part, clear);
    const scene = start();
    await scene.agent.said('epoch.live', 0);
    const loaded = await load(rig, clear);
    await injected(part, scene);
    if (partFaults[part].by === 'an epoch') await newEpoch(scene);
    await isToldAndBack(part, scene);
    return goesOn(scene, loaded);
  },

  'during a hot restart': async (part, clear) => {
    const controlPlane = await heldUpstream();
    clear(() => controlPlane.close());
    controlPlane.open();
    const { rig, start } = await prepare(part, clear, {
      upstreamPort: controlPlane.port,
      extra: awaitsClusters,
    });
    const scene = start();
    const { agent } = scene;
    await agent.said('epoch.live', 0);
    const loaded = await load(rig, clear);
    controlPlane.hold();
    const firstRequest = controlPlane.asked();
    await newEpoch(scene);
    await firstRequest;
    await injected(part, scene);
    if (partFaults[part].by !== 'an epoch') await isToldAndBack(part, scene);
    expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
    controlPlane.open();
    await agent.said('epoch.live', 1);
    if (partFaults[part].by === 'an epoch') await isToldAndBack(part, scene);
    await agent.said('epoch.ended', 0); // in its time, even if a change came meanwhile
    return goesOn(scene, loaded);
  },

  'at the end': async (part, clear) => {
    const upstream = await heldUpstream();
    clear(() => upstream.close());
    const { rig, start } = await prepare(part, clear, { upstreamPort: upstream.port });
    const scene = start(['--drainDuration', '20s', '--parentShutdownDuration', '21s']); // its listeners stay open
    const { agent } = scene;
    await agent.said('epoch.live', 0);
    const loaded = await load(rig, clear);
    const answered = request(rig);
    await upstream.asked();
    agent.kill('SIGTERM');
    await agent.said('termination.requested');
    await injected(part, scene);
    // A fault that an epoch triggers happens at its end: it is logged, but the status port is gone.
    if (partFaults[part].by !== 'an epoch') await isToldAndBack(part, scene);
    expect(await rig.ready()).toEqual({ status: 503, body: 'draining\n' });
    await loaded.lostNothing();
    upstream.open();
    expect(await answered).toBe(heldAnswer);
    return agent;
  },
} as const satisfies Readonly<Record<string, Moment>>;

export type MomentName = keyof typeof moments;

/**
 * The moments at which a part has nothing to do, with the reasons: its fault is not triggered then.
 */
export const idle: Readonly<Partial<Record<Part, Readonly<Partial<Record<MomentName, string>>>>>> =
  {
    expiry: {
      'at the end': 'certificates are read when an Envoy becomes LIVE, and none does after SIGTERM',
    },
  };

/** The configuration with which no epoch is LIVE before its control plane has answered. */
const awaitsClusters = {
  dynamic_resources: {
    cds_config: {
      resource_api_version: 'V3',
      api_config_source: {
        api_type: 'REST',
        transport_api_version: 'V3',
        cluster_names: ['upstream'],
        refresh_delay: '60s',
      },
    },
  },
};

async function prepare(part: Part, clear: Clear, options: Parameters<typeof makeRig>[0] = {}) {
  const [stsPort = 0] = await freePorts(1);
  const rig = await makeRig({
    ...options,
    ...(partFaults[part].isPushed === true && { secret: 'default' }),
    ...(partFaults[part].isProxied === true && { isProxied: true }),
  });
  clear(() => rig.dispose());
  const drain = { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '20' };
  const env = { GCP_METADATA: 'project|123|cluster|zone', ...drain, ...faultEnv(rig) };
  const start = (flags: readonly string[] = []): Scene => ({
    rig,
    stsPort,
    agent: rig.start(
      ['--stsPort', String(stsPort), '--log_output_level', 'default:debug', ...flags],
      { env },
    ),
  });
  return { rig, stsPort, start };
}

async function load(rig: Rig, clear: Clear): Promise<LoadOfBoth> {
  const loaded = await underLoad(rig);
  clear(() => loaded.stop());
  return loaded;
}

async function injected(part: Part, { rig, stsPort }: Scene): Promise<void> {
  const { fault, given, by } = partFaults[part];
  await inject(rig, fault, given?.(rig, stsPort));
  if (by === 'a change') await writeNew(rig);
}

/** Starts an epoch by hand, at once. Its own certificate distinguishes it from the epoch before. */
async function newEpoch({ rig, agent }: Scene): Promise<void> {
  await writeNew(rig);
  agent.kill('SIGHUP');
}

/**
 * Waits until the failure is logged, the part works again, and the status port counts one failure.
 */
async function isToldAndBack(part: Part, scene: Scene): Promise<void> {
  await scene.agent.said('part.failed');
  await eventually(() => partFaults[part].isBack(scene));
  await eventually(async () => (await failuresOf(part, scene.rig)) === '1');
}

/**
 * Waits until clients receive a new certificate, expects that no request has failed, and ends the
 * agent.
 */
async function goesOn({ rig, agent }: Scene, loaded: LoadOfBoth): Promise<RunningAgent> {
  await eventually(() => servesNewest(rig)); // an Envoy that starts could read half of each pair
  await writeNew(rig);
  await eventually(() => servesNewest(rig));
  await loaded.lostNothing();
  agent.kill('SIGTERM');
  return agent;
}

/** Sends a request that is answered when the upstream answers; resolves to the body. */
function request({ ports, ca }: Rig): Promise<string> {
  return new Promise((done, fail) => {
    get(
      {
        host: '127.0.0.1',
        servername: 'localhost',
        port: ports.listen,
        path: '/slow',
        ca: ca.rootCert,
        agent: false,
      },
      (response) => {
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => done(body))
          .on('error', fail);
      },
    ).on('error', fail);
  });
}
