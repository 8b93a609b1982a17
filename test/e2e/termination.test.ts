import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { heldAnswer, heldUpstream, type HeldUpstream } from '../support/e2e/held-upstream.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let upstream: HeldUpstream;
beforeEach(async () => {
  upstream = await heldUpstream();
  rig = await makeRig({ plain: true, upstreamPort: upstream.port });
});
afterEach(async () => {
  upstream.close();
  await rig.dispose();
});

const env = { MINIMUM_DRAIN_DURATION: '1s', TERMINATION_DRAIN_DURATION_SECONDS: '20' };

/** Starts a request that stays in flight until the upstream answers. */
async function inFlight(): Promise<{ answered: Promise<string> }> {
  const answered = new Promise<string>((done, fail) => {
    get(
      { host: '127.0.0.1', port: rig.ports.listen, path: '/slow', agent: false },
      (response: IncomingMessage) => {
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => done(body))
          .on('error', fail);
      },
    ).on('error', fail);
  });
  answered.catch(() => undefined);
  await upstream.asked();
  return { answered };
}

it('SIGTERM waits for the request in flight, but not for idle connections', async () => {
  const agent = rig.start([], { env });
  await agent.said('epoch.live', 0);
  const idle = connect(rig.ports.listen, '127.0.0.1').on('error', () => undefined);
  idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(idle, 'data');
  const { answered } = await inFlight();

  agent.kill('SIGTERM');
  await expect.poll(async () => (await rig.ready()).body, { interval: 5 }).toBe('draining\n');
  const beyondTheMinimum = performance.now() + 2_000;
  await expect
    .poll(
      async () => (await rig.ready()).body === 'draining\n' && performance.now() > beyondTheMinimum,
    )
    .toBe(true);
  upstream.open();
  expect(await answered).toBe(heldAnswer);
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(await agent.said('drain.ended')).toMatchObject({ active: 0 });
  idle.destroy();
});

it('a request that outlives the cap is cut there', async () => {
  const agent = rig.start([], { env: { ...env, TERMINATION_DRAIN_DURATION_SECONDS: '2' } });
  await agent.said('epoch.live', 0);
  await inFlight();
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(await agent.said('drain.ended')).toMatchObject({ active: 1 });
});

it('a second signal ends the drain', async () => {
  const agent = rig.start([], { env });
  await agent.said('epoch.live', 0);
  await inFlight();
  agent.kill('SIGTERM');
  await agent.said('termination.requested');
  agent.kill('SIGINT');
  await expect
    .poll(() => agent.log().filter(({ event }) => event === 'termination.requested'))
    .toHaveLength(2);
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(rig.envoys()).toEqual([]);
});

it('/quitquitquit is the same as SIGTERM, by POST only', async () => {
  const agent = rig.start([], { env });
  await agent.said('epoch.live', 0);
  expect(await rig.post(rig.ports.status, '/quitquitquit')).toBe(200);
  expect(await agent.exit).toEqual({ code: 0, signal: null });
});

it('Envoy that is told to end by its admin endpoint ends the agent cleanly', async () => {
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  expect(await rig.post(rig.ports.admin, '/quitquitquit')).toBe(200);
  expect(await agent.exit).toEqual({ code: 0, signal: null });
});
