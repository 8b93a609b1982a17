import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { upgradeUnderLoad } from '../support/e2e/upgrade-under-load.ts';

let elsewhere: string;
beforeAll(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'pilot-agent-upgrade-'));
  cpSync('dist', join(elsewhere, 'dist'), { recursive: true });
});
afterAll(() => rmSync(elsewhere, { recursive: true }));

it('an upgrade of the agent and a rollback, both under load: each goes on with what the other has left, and no request fails', async () => {
  const [now, next] = [resolve('dist/pilot-agent.cjs'), join(elsewhere, 'dist/pilot-agent.cjs')];
  const { agents, loads } = await upgradeUnderLoad([now, next, now], 50);
  expect(loads.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
    [0, []],
    [0, []],
  ]);
  expect(agents.map(({ adopted }) => adopted)).toEqual([
    undefined,
    agents[0]?.left,
    agents[1]?.left,
  ]);
  expect(agents.flatMap(({ warned }) => warned)).toEqual([]);
  expect(loads.map(({ serials }) => serials.size)).toEqual([4, 4]);
});
