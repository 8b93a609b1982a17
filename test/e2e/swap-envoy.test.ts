import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { cacheDir, pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { installEnvoy } from '../../src/pilot-agent/envoy/install-envoy.ts';
import { ask } from '../support/ask.ts';
import { startLoad } from '../support/load.ts';
import { oldestEnvoy } from '../support/oldest-envoy.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

interface Info {
  readonly version: string;
  readonly command_line_options: { readonly restart_epoch: number };
}

it('the oldest Envoy is replaced by the newest one under load, and that by the oldest one: hot restarts both, and no request fails', async () => {
  const [oldest, newest] = [
    await oldestEnvoy(),
    await installEnvoy({ cacheDir: cacheDir(process.env) }),
  ];
  rig = await makeRig();
  const program = join(rig.folder, 'envoy-in-use');
  const put = (binary: string) => {
    copyFileSync(binary, `${program}.new`);
    renameSync(`${program}.new`, program);
  };
  const serves = async () => {
    const { version, command_line_options: options } = JSON.parse(
      (await ask(rig.ports.admin, '/server_info')).body,
    ) as Info;
    return { version: version.split('/')[1], restartEpoch: options.restart_epoch };
  };

  put(oldest);
  const agent = rig.start(['--binaryPath', program]);
  await agent.said('epoch.live', 0);
  const to = { port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, clients: 4 };
  const loads = [
    startLoad({ ...to, mode: 'keep-alive' }),
    startLoad({ ...to, mode: 'new-connection', pause: 10 }),
  ];
  const sent = () => Math.min(...loads.map(({ counts }) => counts.ok));
  const old = await serves();
  expect(old.version).not.toBe(pinnedEnvoy.version);

  for (const [epoch, binary] of [newest, oldest].entries()) {
    put(binary);
    agent.kill('SIGHUP');
    await agent.said('epoch.live', epoch + 1);
    await agent.said('epoch.ended', epoch);
    expect(await serves()).toEqual({
      version: binary === newest ? pinnedEnvoy.version : old.version,
      restartEpoch: epoch + 1,
    });
    const served = sent();
    await expect.poll(sent).toBeGreaterThan(served + 100);
  }

  const results = await Promise.all(loads.map((load) => load.stop()));
  expect(results.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
    [0, []],
    [0, []],
  ]);
  const warned = agent
    .log()
    .filter(({ level, event }) => ['warn', 'error'].includes(level) && event !== 'envoy.log');
  expect(warned.map(({ event, msg }) => [event, msg])).toEqual([]);
});
