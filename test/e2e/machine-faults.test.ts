import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { type Clear, clearedAfter } from '../support/cleared-after.ts';
import { eventually } from '../support/eventually.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';
import { type Fault, faults } from '../support/e2e/machine-faults.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

/** The duration of a fault, in ms. */
const lasting = 4_000;
/** The longest time, in ms, until the agent tries a change again: a minute if memory was short. */
const healed = 75_000;

const all = Object.entries<Fault>(faults);
const possible = all.filter(([, { isPossible }]) => isPossible());
for (const [what] of all)
  if (possible.every(([name]) => name !== what)) leftOut(`a fault of the machine: ${what}`);

async function prepare(fault: Fault, clear: Clear) {
  const rig = await makeRig();
  const stage = fault.stage(join(rig.folder, 'run'));
  clear(async () => {
    stage.end();
    stage.unmount?.();
    await rig.dispose();
    await stage.dispose?.();
  });
  const start = () => {
    const { wrap = [], env } = stage.start;
    return rig.start([], {
      wrap,
      env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1', ...env },
    });
  };
  return { rig, stage, start };
}

const serial = ({ ports, ca }: Rig) => servedSerial(ports.listen, ca.rootCert);

/** Resolves to the result of the start of an agent: it serves, or it has ended. */
async function outcome(rig: Rig, agent: RunningAgent): Promise<'serves' | 'ended'> {
  const served = eventually(() => serial(rig)).then(() => 'serves' as const);
  served.catch(() => undefined); // the agent has ended
  return Promise.race([agent.exit.then(() => 'ended' as const), served]);
}

describe.concurrent.each(possible)('%s', (_, fault) => {
  if (fault.preventsStart !== true)
    it('at the start: the agent serves, or ends with one line that says why, and starts when it is over', () =>
      clearedAfter(async (clear) => {
        const { rig, stage, start } = await prepare(fault, clear);
        stage.begin(undefined);
        const agent = start();
        if ((await outcome(rig, agent)) === 'serves') return;
        expect(agent.errors()).toMatch(/^pilot-agent: .+\n$/);
        expect([69, 78]).toContain((await agent.exit).code);
        stage.end();
        await start().said('epoch.live', 0);
      }));

  it('at a restart: no request fails, the log says what is wrong, and it heals by itself', () =>
    clearedAfter(async (clear) => {
      const { rig, stage, start } = await prepare(fault, clear);
      const agent = start();
      await agent.said('epoch.live', 0);
      const load = startLoad({
        port: rig.ports.listen,
        tls: { ca: rig.ca.rootCert },
        mode: 'keep-alive',
        clients: 2,
        pause: 10,
        maxDuration: Infinity,
      });
      clear(() => load.stop());
      stage.begin(agent.pid);
      const issued = await rig.ca.issue();
      writeCertificates(rig.certDir, issued);
      if (fault.logLine === undefined) await agent.said('epoch.live', 1);
      else expect(await agent.said(fault.logLine.event)).toMatchObject(fault.logLine);
      await new Promise((done) => setTimeout(done, lasting));
      stage.end();
      await eventually(async () => (await serial(rig)) === issued.serial, { within: healed });
      const { failed, errors } = await load.stop();
      expect([failed, [...errors]]).toEqual([0, []]);
    }));

  it('at the end: the agent ends as it was asked to, and leaves no process', () =>
    clearedAfter(async (clear) => {
      const { rig, stage, start } = await prepare(fault, clear);
      const agent = start();
      await agent.said('epoch.live', 0);
      stage.begin(agent.pid);
      agent.kill('SIGTERM');
      expect(await agent.exit, agent.errors()).toEqual({ code: 0, signal: null });
      expect(rig.envoys()).toEqual([]);
    }));
});
