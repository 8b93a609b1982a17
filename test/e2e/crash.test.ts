import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig();
});
afterEach(() => rig.dispose());

const envoy = () => {
  const [pid = 0] = rig.envoys();
  return pid;
};

it('a killed Envoy is started again; it is not ready meanwhile, and says why', async () => {
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  process.kill(envoy(), 'SIGKILL');
  await expect.poll(async () => (await rig.ready()).status, { interval: 1 }).toBe(503);
  await expect
    .poll(async () => (await rig.ready()).body, { interval: 1 })
    .toContain('has crashed and waits to be started again: SIGKILL');
  const failed = await agent.said('epoch.failed', 0);
  expect(failed).toMatchObject({ level: 'error', kind: 'signaled', signal: 'SIGKILL' });
  // If the kernel counts the kills of its OOM killer, the agent knows that this was not one.
  expect(['may be out of memory', undefined]).toContain(failed['hint']);
  await agent.said('epoch.live', 1);
  expect((await rig.ready()).status).toBe(200);
});

it('the budget ends the agent with the code of the last Envoy', async () => {
  const agent = rig.start(['--envoyRestartBudget', '1']);
  await agent.said('epoch.live', 0);
  process.kill(envoy(), 'SIGKILL');
  await agent.said('epoch.live', 1);
  process.kill(envoy(), 'SIGSEGV');
  expect(await agent.exit).toEqual({ code: 139, signal: null });
  const words = 'Caught Segmentation fault, suspect faulting address 0x[0-9a-f]+';
  expect(agent.errors()).toMatch(
    new RegExp(
      `^pilot-agent: Envoy was ended by SIGSEGV: ${words} \\(docs/troubleshooting\\.md#exit-other\\)\n$`,
    ),
  );
});

it('a stopped Envoy is not ready, and is again when it goes on', async () => {
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  process.kill(envoy(), 'SIGSTOP');
  await expect.poll(() => rig.ready()).toEqual({ status: 503, body: 'Envoy does not answer\n' });
  await agent.said('epoch.unresponsive', 0);
  process.kill(envoy(), 'SIGCONT');
  await agent.said('epoch.answering', 0);
  expect((await rig.ready()).status).toBe(200);
});

it('a child that is killed is replaced, and the change it was started for is not forgotten', async () => {
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  writeCertificates(rig.certDir, await rig.ca.issue());
  const { pid } = await agent.said('epoch.live', 1);
  process.kill(Number(pid), 'SIGKILL');
  await agent.said('epoch.live', 2);
  await expect.poll(async () => (await rig.ready()).status).toBe(200);
});
