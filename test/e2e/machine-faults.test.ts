import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { type Load, startLoad } from '../support/load.ts';
import { type Fault, faults, type FaultStage } from './support/machine-faults.ts';
import { makeRig, type Rig, type RunningAgent } from './support/rig.ts';

/** How long a fault lasts. In ms. */
const lasting = 4_000;

describe.each(Object.entries<Fault>(faults))('%s', (_, fault) => {
  const test = it.skipIf(!fault.isPossible());
  let rig: Rig;
  let stage: FaultStage;
  let load: Load | undefined;
  beforeEach(async () => {
    rig = await makeRig();
    stage = fault.stage(join(rig.folder, 'run'));
    load = undefined;
  });
  afterEach(async () => {
    await load?.stop();
    stage.end();
    stage.unmount?.();
    await rig.dispose();
    stage.dispose?.();
  });

  const start = () => {
    const { wrap = [], env } = stage.start;
    return rig.start([], { wrap, env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1', ...env } });
  };
  const serves = () => servedSerial(rig.ports.listen, rig.ca.rootCert);
  /** What became of the start of an agent: it serves, or it has ended. */
  const outcome = async (agent: RunningAgent) => {
    const isServing = async () => ((await serves()) === undefined ? undefined : 'serves');
    const ended = agent.exit.then(() => 'ended');
    const served = expect.poll(isServing, { timeout: 20_000 }).toBe('serves').then(() => 'serves'); // prettier-ignore
    served.catch(() => undefined); // it has ended
    return Promise.race([ended, served]);
  };

  it.skipIf(!fault.isPossible() || fault.preventsStart === true)(
    'at the start: the agent serves, or ends with one line that says why, and starts when it is over',
    { timeout: 60_000 },
    async () => {
      stage.begin(undefined);
      const agent = start();
      if ((await outcome(agent)) === 'serves') return;
      expect(agent.errors()).toMatch(/^pilot-agent: .+\n$/);
      expect([69, 78]).toContain((await agent.exit).code);
      stage.end();
      await start().said('epoch.live', 0);
    },
  );

  test('at a restart: no request fails, the log says what is wrong, and it heals by itself', { timeout: 90_000 }, async () => {
    const agent = start();
    await agent.said('epoch.live', 0);
    load = startLoad({ port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, mode: 'keep-alive', clients: 2, pause: 10, maxDuration: Infinity }); // prettier-ignore
    stage.begin(agent.pid);
    const issued = await rig.ca.issue();
    writeCertificates(rig.certDir, issued);
    if (fault.told === undefined) await agent.said('epoch.live', 1);
    else await agent.said(fault.told);
    await new Promise((done) => setTimeout(done, lasting));
    stage.end();
    await expect.poll(serves, { timeout: 45_000 }).toBe(issued.serial);
    const { failed, errors } = await load.stop();
    expect([failed, [...errors]]).toEqual([0, []]);
  });

  test('at the end: the agent ends as it was asked to, and leaves no process', { timeout: 60_000 }, async () => {
    const agent = start();
    await agent.said('epoch.live', 0);
    stage.begin(agent.pid);
    agent.kill('SIGTERM');
    expect(await agent.exit, agent.errors()).toEqual({ code: 0, signal: null });
    expect(rig.envoys()).toEqual([]);
  });
});
