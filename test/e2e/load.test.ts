import { afterEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { rotateUnderLoad } from '../support/e2e/rotate-under-load.ts';

let rig: Rig | undefined;
afterEach(() => rig?.dispose());

it('five hot restarts under 60,000 requests lose none, over kept connections and new ones', async () => {
  const loads = await rotateUnderLoad({ rotations: 5, requests: 60_000, timeoutMs: 110_000 });
  const results = Object.values(loads);
  expect(results.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
    [0, []],
    [0, []],
  ]);
  expect(results.reduce((sum, { ok }) => sum + ok, 0)).toBeGreaterThanOrEqual(60_000);
  expect(results.map(({ serials }) => serials.size)).toEqual([6, 6]);
  expect(loads['new-connection'].ok).toBeGreaterThan(1_000);
});

it('readiness does not flap while the admin port goes from epoch to epoch', async () => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  const answers: string[] = [];
  const sampling = new AbortController();
  const sampler = (async () => {
    while (!sampling.signal.aborted) {
      const { status, body } = await rig.ready();
      answers.push(`${status} ${body}`);
    }
  })();
  for (let epoch = 1; epoch <= 2; epoch++) {
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch.ended', epoch - 1);
  }
  sampling.abort();
  await sampler;
  expect(answers.length).toBeGreaterThan(100);
  expect([...new Set(answers)]).toEqual(['200 ']);
});
