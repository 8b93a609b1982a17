import { afterEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { startLoad } from '../support/load.ts';
import { makeRig, type Rig } from './support/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

it.each(['keep-alive', 'new-connection'] as const)('five hot restarts under load lose no request (%s)', async (mode) => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch is LIVE', 0);
  const load = startLoad({ port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, mode, clients: 4, maxDuration: 40_000 });
  for (let epoch = 1; epoch <= 5; epoch++) {
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch is LIVE', epoch);
    await agent.said('epoch has drained and ended', epoch - 1);
  }
  const { ok, failed, errors, serials } = await load.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  expect(ok).toBeGreaterThan(1_000);
  expect(serials.size).toBe(6);
});

it('readiness does not flap while the admin port goes from epoch to epoch', async () => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch is LIVE', 0);
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
    await agent.said('epoch has drained and ended', epoch - 1);
  }
  sampling.abort();
  await sampler;
  expect(answers.length).toBeGreaterThan(100);
  expect([...new Set(answers)]).toEqual(['200 ']);
});
