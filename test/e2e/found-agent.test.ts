import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { hasNetworks, makeNetwork, type Network } from '../support/e2e/network.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

/** Each test has a network of its own, so that it does not reach other agents of this machine. */
describe.skipIf(!hasNetworks)('a command without a word of which agent', () => {
  let network: Network;
  let rig: Rig;
  beforeEach(async () => {
    network = makeNetwork();
    rig = await makeRig();
  });
  afterEach(async () => {
    await rig.dispose();
    network.dispose();
  });

  const place = (() => {
    let cached: readonly [Network, readonly string[]] | undefined;
    return () => {
      if (cached?.[0] !== network) cached = [network, network.place('pod', []).enter];
      return cached[1];
    };
  })();
  const start = (flags: readonly string[] = []) => rig.start(flags, { wrap: place() });
  const run = (
    ...args: readonly string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((done) => {
      const [file = '', ...enter] = place();
      execFile(file, [...enter, ...program, ...args], (error, stdout, stderr) =>
        done({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });

  it('finds the one that runs here: wait, request, secrets, exec', async () => {
    const agent = start(['--rotation', 'sds']);
    expect(await run('wait', '--quiet', '--periodMillis', '50')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await run('request', 'GET', 'server_info')).stdout).toContain('"state": "LIVE"');
    expect(await run('secrets', '-o', 'json')).toMatchObject({ code: 0, stderr: '' });
    const folder = mkdtempSync(join(rig.folder, 'ran-'));
    expect(await run('exec', '--', 'mkdir', join(folder, 'done'))).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    rmSync(join(folder, 'done'), { recursive: true });
    expect((await agent.exit).code).toBe(0);
  });

  it('waits for one that is not there yet', async () => {
    place();
    const waited = run('wait', '--periodMillis', '100', '--requestTimeoutMillis', '2000');
    start();
    const stderr = expect.stringMatching(
      // Nothing is printed if the agent is ready by then.
      /^((pilot-agent: waiting for the proxy: .*\n)+pilot-agent: the proxy is ready after .* s\n)?$/,
    ) as string;
    expect(await waited).toEqual({ code: 0, stdout: '', stderr });
  });

  it('says that there is none, and asks where one usually is', async () => {
    const nobody = 'no agent is found here';
    const folder = join(rig.folder, 'empty');
    mkdirSync(folder);
    expect(await run('wait', '--timeoutSeconds', '0')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining(
        `the proxy is not ready within 0 s: ${nobody}, and http://localhost:15021/healthz/ready: `,
      ) as string,
    });
    expect((await run('request', 'GET', 'stats')).stderr).toContain(`(${nobody})`);
    expect((await run('secrets')).stderr).toContain(
      `${nobody}, and /etc/istio/proxy/SDS is not there`,
    );
    expect((await run('secrets', '--configPath', folder)).stderr).not.toContain(nobody);
    expect(await run('exec', '--timeoutSeconds', '0', '--', 'true')).toMatchObject({ code: 69 });
  });

  it('names those that run, with the flag that says which, and a flag wins', async () => {
    const agent = start();
    await agent.said('epoch.live', 0);
    const second = join(rig.folder, 'second');
    const other = start([
      '--configPath',
      second,
      '--statusPort',
      '0',
      '--customConfigFile',
      '',
      '--proxyAdminPort',
      '15900',
    ]);
    await other.said('epoch.started', 0);
    const both = (flag: string, otherFlag: string) =>
      [
        `${flag} (process ${agent.pid}, --configPath ${join(rig.folder, 'run')}, --statusPort ${rig.ports.status})`,
        `${otherFlag} (process ${other.pid}, --configPath ${second}, no status port)`,
      ] as const;
    const folders = both(`--configPath ${join(rig.folder, 'run')}`, `--configPath ${second}`);
    for (const command of [['request', 'GET', 'stats'], ['secrets']]) {
      const { code, stderr } = await run(...command);
      expect([code, stderr]).toEqual([
        64,
        expect.stringContaining('2 agents run here: choose one by ') as string,
      ]);
      for (const folder of folders) expect(stderr).toContain(folder);
    }
    const url = `http://localhost:${rig.ports.status}/healthz/ready`;
    expect((await run('wait')).stderr).toContain(
      both(`--url ${url}`, `--url http://localhost:${rig.ports.health}/healthz/ready`)[0],
    );
    expect(await run('exec', '--', 'true')).toMatchObject({ code: 64 });
    expect(await run('wait', '--url', url)).toMatchObject({ code: 0 });
    expect(
      await run('request', 'GET', 'ready', '--configPath', join(rig.folder, 'run')),
    ).toMatchObject({ code: 0, stdout: 'LIVE\n\n' });
  });
});

it.skipIf(hasNetworks)('needs a network of its own', () => leftOut('commands that find the agent'));
