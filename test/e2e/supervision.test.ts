import { execFile } from 'node:child_process';
import { get } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import type { Part } from '../../src/run/part.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Load, startLoad } from '../support/load.ts';
import { type Fault, faultEnv, inject } from './support/inject.ts';
import { makeRig, type Rig, type RunningAgent } from './support/rig.ts';

let rig: Rig;
let loads: readonly Load[] = [];
afterEach(async () => {
  await Promise.all(loads.map((load) => load.stop()));
  await rig.dispose();
});

/** What a port answers: the status code, 0 where nobody does, and the body. */
const answer = (port: number, path: string) =>
  new Promise<{ readonly status: number; readonly body: string }>((done) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () => done({ status: response.statusCode ?? 0, body }));
    }).on('error', ({ message }) => done({ status: 0, body: message }));
  });

const counted = async (part: Part) => {
  const { body } = await answer(rig.ports.status, '/stats/prometheus');
  return new RegExp(`^istio_agent_part_failures_total\\{part="${part}"\\} (\\d+)$`, 'm').exec(body)?.[1];
};

/** Requests over connections that are kept and over new ones. */
async function underLoad(): Promise<void> {
  const tls = { ca: rig.ca.rootCert };
  loads = (['keep-alive', 'new-connection'] as const).map((mode) => startLoad({ port: rig.ports.listen, tls, mode, clients: 2, pause: 5 }));
  await expect.poll(() => Math.min(...loads.map(({ counts }) => counts.ok)), { timeout: 10_000 }).toBeGreaterThan(20);
}

async function lostNothing(): Promise<void> {
  const results = await Promise.all(loads.map((load) => load.stop()));
  expect(results.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
    [0, []],
    [0, []],
  ]);
}

const serves = (serial: string) =>
  expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert), { timeout: 15_000, interval: 20 }).toBe(serial);

/** A new certificate comes by push, or by a new epoch. */
async function rotates(): Promise<void> {
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await serves(issued.serial);
}

interface FaultOf {
  readonly part: Part;
  readonly fault: Fault;
  /** Certificates come by push. */
  readonly pushed: boolean;
  readonly given?: (stsPort: number) => string;
  /** What makes the agent run into it. */
  readonly then?: (agent: RunningAgent) => unknown;
  /** The part does its work again. */
  readonly back: (agent: RunningAgent, stsPort: number) => Promise<unknown>;
}

const newEpoch = (agent: RunningAgent) => agent.kill('SIGHUP');
const writeNew = async () => writeCertificates(rig.certDir, await rig.ca.issue());

const faultsOf: readonly FaultOf[] = [
  { part: 'status', fault: 'server', pushed: false, given: () => String(rig.ports.status), back: () => expect.poll(() => rig.ready(), { timeout: 5_000 }).toEqual({ status: 200, body: '' }) }, // prettier-ignore
  { part: 'sts', fault: 'server', pushed: false, given: String, back: (_, port) => expect.poll(async () => (await answer(port, '/stsStatus')).status, { timeout: 5_000 }).toBe(200) }, // prettier-ignore
  { part: 'sds', fault: 'pack', pushed: true, then: writeNew, back: rotates },
  { part: 'secrets', fault: 'hash', pushed: true, given: () => join(rig.certDir, 'key.pem'), then: writeNew, back: rotates },
  { part: 'sources', fault: 'hash', pushed: false, given: () => join(rig.certDir, 'key.pem'), then: writeNew, back: rotates },
  { part: 'expiry', fault: 'expiry', pushed: false, then: newEpoch, back: () => expect.poll(() => answer(rig.ports.status, '/stats/prometheus').then(({ body }) => body), { timeout: 5_000 }).toContain('istio_agent_certificate_expiration_seconds{path=') }, // prettier-ignore
  { part: 'log', fault: 'words', pushed: false, then: newEpoch, back: (agent) => agent.said('epoch.live', 1) },
  { part: 'timeline', fault: 'past', pushed: false, then: newEpoch, back: (agent) => agent.said('epoch.live', 1) },
];

describe('a part that fails is told, counted and started again, and no request is lost', () => {
  it.each(faultsOf)('$part', async ({ part, fault, pushed, given, then, back }) => {
    const [stsPort = 0] = await freePorts(1);
    rig = await makeRig(pushed ? { secret: 'default' } : {});
    const agent = rig.start(['--stsPort', String(stsPort)], { env: { GCP_METADATA: 'project|123|cluster|zone', ...faultEnv(rig) } });
    await agent.said('epoch.live', 0);
    await serves(rig.issued.serial);
    await underLoad();
    await inject(rig, fault, given?.(stsPort));
    await then?.(agent);
    expect(await agent.said('part.failed')).toMatchObject({ level: 'error', part, reason: expect.stringContaining('injected') as string });
    await back(agent, stsPort);
    await expect.poll(() => counted(part), { timeout: 5_000 }).toBe('1');
    expect(agent.log().filter(({ event }) => event === 'part.failed')).toHaveLength(1);
    await rotates();
    await lostNothing();
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  });
});

const env = { MINIMUM_DRAIN_DURATION: '2s', TERMINATION_DRAIN_DURATION_SECONDS: '5' };

/** A bug as the agent may have it. */
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
  newEpoch(agent);
  await agent.said('epoch.started', 1);
}

describe('a bug', () => {
  it.each(bugs)('$what drains Envoy, and the agent ends with 70', async ({ fault, before, then }) => {
    rig = await makeRig();
    const agent = rig.start([], { env: { ...env, ...faultEnv(rig) } });
    await agent.said('epoch.live', 0);
    await serves(rig.issued.serial);
    await underLoad();
    await before?.(agent);
    await inject(rig, fault);
    then?.(agent);
    const line = await agent.said('agent.bug');
    expect(line).toMatchObject({ level: 'error', envoy: 'drained', reason: expect.stringMatching(/^injected/) as string });
    expect(line['stack']).toContain(' at ');
    // As a client does that looks at readiness.
    await expect.poll(() => rig.ready(), { timeout: 1_000, interval: 10 }).toEqual({ status: 503, body: 'terminating: a bug\n' });
    await lostNothing();
    expect(await agent.exit).toEqual({ code: 70, signal: null });
    expect(agent.errors()).toMatch(/^pilot-agent: this is a bug: injected.*\n$/);
    expect(agent.log().at(-1)?.event).toBe('agent.ended');
    expect(rig.envoys()).toEqual([]);
  });

  it('of a command without an Envoy is told, and ends it with 70', async () => {
    rig = await makeRig();
    const nobody = `http://127.0.0.1:${rig.ports.status}/`;
    const given = ['dist/pilot-agent.cjs', 'wait', '--url', nobody];
    const waiting = promisify(execFile)(process.execPath, given, { env: { ...process.env, ...faultEnv(rig) } });
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
    await serves(rig.issued.serial);
    await underLoad();
    await inject(rig, 'uncaught');
    expect(await agent.exit).toEqual({ code: 70, signal: null });
    expect(agent.log().find(({ event }) => event === 'agent.bug')).toMatchObject({ envoy: 'left' });
    const next = rig.start(['--keepEnvoy'], { env });
    await next.said('epoch.live', 1);
    await lostNothing();
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
    await inject(rig, 'uncaught'); // after which the signal has been heard
    expect(rig.envoys().length).toBeGreaterThan(0);
    expect(agent.log().filter(({ event }) => event === 'agent.bug')).toHaveLength(1);
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 70, signal: null });
    expect(rig.envoys()).toEqual([]);
  });
});
