import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

const alone = ['--statusPort', '0'];
/**
 * Returns the entries of the agent's folder with their inodes. A replaced entry has another inode.
 */
const entries = () =>
  readdirSync(join(rig.folder, 'run')).map(
    (name) => `${name} ${statSync(join(rig.folder, 'run', name)).ino}`,
  );

it('a second agent with the same folder is told who has it, and touches nothing in it', async () => {
  rig = await makeRig({ secret: 'default' });
  const first = rig.start();
  await first.said('epoch.live', 0);
  const before = entries();
  const second = rig.start(alone);
  expect(await second.exit).toEqual({ code: 69, signal: null });
  expect(second.errors()).toMatch(
    new RegExp(
      `^pilot-agent: --configPath \\S+/run belongs to another agent \\(process ${first.pid}, version \\S+, since 20\\S+Z\\): end it, or give this one a --configPath of its own \\(docs/troubleshooting.md#exit-69\\)\\n$`,
    ),
  );
  expect(second.log()).toMatchObject([{ level: 'fatal', event: 'agent.failed', code: 69 }]);
  expect(entries()).toEqual(before);
  expect((await rig.ready()).status).toBe(200);
  first.kill('SIGTERM');
  await first.exit;
  expect(entries()).toEqual([expect.stringMatching(/^ended\.json /)]);
});

it('an agent that is killed is followed at once, one that is stopped is not', async () => {
  rig = await makeRig();
  const first = rig.start(alone);
  await first.said('epoch.live', 0);
  first.kill('SIGSTOP');
  const early = rig.start(alone);
  expect(await early.exit).toEqual({ code: 69, signal: null });
  expect(early.errors()).toContain('belongs to another agent, which does not say who it is');
  first.kill('SIGKILL');
  const next = rig.start(alone);
  await next.said('epoch.live', 0);
  expect(entries().filter((name) => name.startsWith('agent-'))).toHaveLength(1);
});

it('of agents that start at the same moment one runs', async () => {
  rig = await makeRig();
  const agents = Array.from({ length: 4 }, () => rig.start(alone));
  const ended = Promise.all(agents.map(async (agent) => ({ agent, ...(await agent.exit) })));
  await expect
    .poll(
      () => agents.filter((agent) => agent.errors().includes('belongs to another agent')).length,
    )
    .toBe(3);
  const winner = agents.find((agent) => agent.errors() === '');
  await winner?.said('epoch.live', 0);
  winner?.kill('SIGTERM');
  expect((await ended).map(({ code }) => code).toSorted()).toEqual([0, 69, 69, 69]);
});

it('a folder with a long name is held as well', async () => {
  rig = await makeRig();
  const long = join(rig.folder, 'a'.repeat(100), 'b'.repeat(100));
  mkdirSync(long, { recursive: true });
  const first = rig.start(['--configPath', long, ...alone]);
  await first.said('epoch.live', 0);
  const second = rig.start(['--configPath', long, ...alone]);
  expect(await second.exit).toEqual({ code: 69, signal: null });
  expect(second.errors()).toContain(`(process ${first.pid},`);
});
