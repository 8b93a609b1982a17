import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type Fault, faultEnv, inject } from '../support/e2e/inject.ts';
import { type LoadOfBoth, underLoad } from '../support/e2e/load-of-both.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

let rig: Rig;
let load: LoadOfBoth | undefined;
afterEach(async () => {
  await load?.stop();
  await rig.dispose();
});

const env = { MINIMUM_DRAIN_DURATION: '2s', TERMINATION_DRAIN_DURATION_SECONDS: '5' };

/** A kind of bug that the agent may have. */
interface BugOf {
  readonly what: string;
  readonly fault: Fault;
  readonly before?: (agent: RunningAgent) => unknown;
  readonly then?: (agent: RunningAgent) => void;
}

const bugs: readonly BugOf[] = [
  { what: 'in the core', fault: 'core', then: (agent) => agent.kill('SIGUSR1') },
  { what: 'that nobody catches', fault: 'uncaught' },
  { what: 'in a promise', fault: 'rejection' },
  { what: 'in the middle of a hot restart', fault: 'uncaught', before: startChild },
];

async function startChild(agent: RunningAgent): Promise<void> {
  agent.kill('SIGHUP');
  await agent.said('epoch.started', 1);
}

describe('a bug', () => {
  it.each(bugs)(
    '$what drains Envoy, and the agent ends with 70',
    async ({ fault, before, then }) => {
      rig = await makeRig();
      const agent = rig.start(['--log_output_level', 'default:debug'], {
        env: { ...env, ...faultEnv(rig) },
      });
      await agent.said('epoch.live', 0);
      load = await underLoad(rig);
      await before?.(agent);
      await inject(rig, fault);
      then?.(agent);
      const line = await agent.said('agent.bug');
      expect(line).toMatchObject({
        level: 'error',
        envoy: 'drained',
        reason: expect.stringMatching(/^injected/) as string,
      });
      expect(line['stack']).toContain(' at ');
      // Readiness is polled as a client polls it.
      await expect
        .poll(() => rig.ready(), { interval: 10 })
        .toEqual({ status: 503, body: 'terminating: a bug\n' });
      await load.lostNothing();
      expect(await agent.exit).toEqual({ code: 70, signal: null });
      expect(agent.errors()).toMatch(/^pilot-agent: this is a bug: injected.*\n$/);
      expect(agent.log().slice(-2)).toMatchObject([
        { event: 'agent.ended', code: 70 },
        { event: 'agent.failed', code: 70 },
      ]);
      expect(rig.envoys()).toEqual([]);
    },
  );

  it('of a command without an Envoy is told, and ends it with 70', async () => {
    rig = await makeRig();
    const nobody = `http://127.0.0.1:${rig.ports.status}/`;
    const given = ['dist/pilot-agent.cjs', 'wait', '--url', nobody];
    const waiting = promisify(execFile)(process.execPath, given, {
      env: { ...process.env, ...faultEnv(rig) },
    });
    const stderr = expect.stringMatching(/^pilot-agent: this is a bug: Error: injected/) as string;
    // The rejection is expected before the fault is injected: it may come before inject() returns.
    const ended = expect(waiting).rejects.toMatchObject({ code: 70, stderr });
    await inject(rig, 'uncaught');
    await ended;
  });

  it('leaves Envoy serving with --keepEnvoy', async () => {
    rig = await makeRig();
    const agent = rig.start(['--keepEnvoy'], { env: { ...env, ...faultEnv(rig) } });
    await agent.said('epoch.live', 0);
    load = await underLoad(rig);
    await inject(rig, 'uncaught');
    expect(await agent.exit).toEqual({ code: 70, signal: null });
    expect(agent.log().find(({ event }) => event === 'agent.bug')).toMatchObject({ envoy: 'left' });
    const next = rig.start(['--keepEnvoy'], { env });
    await next.said('epoch.live', 1);
    await load.lostNothing();
    next.kill('SIGTERM');
    await next.exit;
  });

  it('during a bug changes nothing, and a second SIGTERM cuts the drain short', async () => {
    rig = await makeRig();
    const drain = { MINIMUM_DRAIN_DURATION: '60s', TERMINATION_DRAIN_DURATION_SECONDS: '60' };
    const agent = rig.start([], { env: { ...drain, ...faultEnv(rig) } });
    await agent.said('epoch.live', 0);
    await inject(rig, 'uncaught');
    await agent.said('agent.bug');
    await inject(rig, 'rejection');
    agent.kill('SIGTERM');
    await inject(rig, 'uncaught'); // the agent has received the signal when this returns
    expect(rig.envoys().length).toBeGreaterThan(0);
    expect(agent.log().filter(({ event }) => event === 'agent.bug')).toHaveLength(1);
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 70, signal: null });
    expect(rig.envoys()).toEqual([]);
  });
});
