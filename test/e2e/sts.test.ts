import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig();
});
afterEach(() => rig.dispose());

const status = (host: string, port: number) =>
  new Promise<number>((done) => {
    get({ host, port, path: '/stsStatus', agent: false }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    }).on('error', () => done(0));
  });

it('tokens are exchanged on the loopback address, as long as the agent runs, and nowhere without --stsPort', async () => {
  const [port = 0] = await freePorts(1);
  const agent = rig.start(['--stsPort', String(port)], {
    env: { GCP_METADATA: 'project|123|cluster|zone', GKE_CLUSTER_URL: 'https://c' },
  });
  await agent.said('epoch.live', 0);
  expect(await agent.said('sts.listening')).toMatchObject({ component: 'sts', port });
  expect(await status('127.0.0.1', port)).toBe(200);
  expect(await status('127.0.0.2', port)).toBe(0);
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(await status('127.0.0.1', port)).toBe(0);
});

it('a port that is taken ends the agent with 69', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const agent = rig.start(['--stsPort', String(port)]);
  expect(await agent.exit).toEqual({ code: 69, signal: null });
  expect(agent.errors()).toContain(`--stsPort ${port}`);
  other.close();
});
