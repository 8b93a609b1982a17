import { writeFileSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { writeCertificates } from '../../../demo/certificates.ts';
import type { EpochsReport } from '../../../src/pilot-agent/report/epoch-report.ts';
import { ask } from '../ask.ts';
import type { Rig, RunningAgent } from '../e2e/rig.ts';

/**
 * Leads an agent through two rotations, a crash, and a configuration that Envoy rejects. `between`
 * is the pause between them, in ms. Resolves when the last epoch, 3, is LIVE and the agent has
 * logged the rejection.
 */
export async function eventfulRun(rig: Rig, agent: RunningAgent, between = 0): Promise<void> {
  await agent.said('epoch.live', 0);
  for (const epoch of [1, 2]) {
    await pause(between);
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch.live', epoch);
  }
  await pause(between);
  const { epochs } = JSON.parse(
    (await ask(rig.ports.status, '/debug/epochs')).body,
  ) as EpochsReport;
  process.kill(epochs.findLast(({ epoch }) => epoch === 2)?.pid ?? NaN, 'SIGSEGV');
  await agent.said('epoch.live', 3);
  await pause(between);
  const config = readFileSync(rig.config, 'utf8');
  writeFileSync(
    rig.config,
    config.replace('"STATIC"', '"STATIK"').replace('"static_resources"', '"static_resource"'),
  );
  await agent.said('config.refused');
}
