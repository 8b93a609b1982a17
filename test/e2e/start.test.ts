import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

it('starts Envoy, is ready when it is LIVE, and leaves nothing behind but how it ended', async () => {
  rig = await makeRig();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  expect(await rig.ready()).toEqual({ status: 200, body: '' });
  expect(rig.envoys()).toHaveLength(1);

  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(rig.envoys()).toEqual([]);
  expect(readdirSync(join(rig.folder, 'run'))).toEqual(['ended.json']);
  expect(agent.errors()).toBe('');
});

it('two agents on one machine do not meet', async () => {
  rig = await makeRig();
  const other = await makeRig();
  try {
    await Promise.all([rig.start().said('epoch.live', 0), other.start().said('epoch.live', 0)]);
    expect([(await rig.ready()).status, (await other.ready()).status]).toEqual([200, 200]);
  } finally {
    await other.dispose();
  }
});
