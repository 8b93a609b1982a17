import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Discovery, startDiscovery } from '../support/discovery.ts';
import { ask } from '../support/ask.ts';
import { freePorts } from '../support/free-ports.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

let rig: Rig;
const servers: Server[] = [];
beforeEach(async () => {
  rig = await makeRig({ plain: true });
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  await rig.dispose();
});

/** Sends this text. Resolves to the data that comes back until the connection ends or is idle. */
function send(port: number, text: string): Promise<string> {
  return new Promise((done) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('latin1').setTimeout(1_000, () => socket.destroy());
    socket
      .on('data', (piece: string) => (answer += piece))
      .on('error', () => undefined)
      .on('close', () => done(answer));
  });
}

const order = 'POST /quitquitquit HTTP/1.1\r\nHost: localhost\r\n\r\n';
const probe = (...headers: readonly string[]) =>
  ['GET /healthz/ready HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n');
/**
 * Requests that two parties may read in two ways. In one of the two, they contain a further
 * request.
 */
const ambiguous = {
  'a length and a coding': `${probe('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${order}`,
  'a coding and a length': `${probe('Transfer-Encoding: chunked', `Content-Length: ${order.length + 5}`)}0\r\n\r\n${order}`,
  'two lengths': `${probe('Content-Length: 0', `Content-Length: ${order.length}`)}${order}`,
  'a coding with a space before the colon': `${probe(`Content-Length: ${order.length + 5}`, 'Transfer-Encoding : chunked')}0\r\n\r\n${order}`,
  'a coding that nobody knows': `${probe(`Content-Length: ${order.length}`, 'Transfer-Encoding: xchunked')}${order}`,
  'a folded header': `${probe(`Content-Length: ${order.length}`, 'X-A: b', ' Transfer-Encoding: chunked')}${order}`,
  'a line that ends with LF alone': `GET /healthz/ready HTTP/1.1\nHost: localhost\nContent-Length: ${order.length}\n\n${order}`,
  'a length that is none': `${probe('Content-Length: +0')}${order}`,
  'a chunk that is too long': `${probe('Transfer-Encoding: chunked')}0;${'a'.repeat(20_000)}\r\n\r\n${order}`,
};
/** Other ways to write a path that this port does not pass on. */
const detours = [
  '/healthz/ready/../../quitquitquit',
  '/healthz/ready/%2e%2e/%2e%2e/quitquitquit',
  '/healthz/ready%2f..%2f..%2fquitquitquit',
  '//quitquitquit',
  '/healthz/ready/..;/quitquitquit',
  '/healthz/ready#/quitquitquit',
  '/quitquitquit',
];

describe('at the port by which Envoy passes on a probe to the agent', () => {
  let agent: RunningAgent;
  let controlPlane: Discovery;
  beforeEach(async () => {
    controlPlane = await startDiscovery();
    agent = rig.start(['--discoveryAddress', `127.0.0.1:${controlPlane.port}`], {
      generated: true,
    });
    await agent.said('epoch.live');
    await expect
      .poll(async () => (await ask(rig.ports.health, '/healthz/ready')).status)
      .toBeGreaterThan(0);
  });
  afterEach(() => controlPlane.close());

  it('no request within a request reaches the agent, and no detour', async () => {
    expect(await send(rig.ports.health, probe('Connection: close'))).toMatch(
      /^HTTP\/1.1 (?:200|503)/,
    );
    for (const [what, text] of Object.entries(ambiguous)) {
      const answer = await send(rig.ports.health, text);
      expect(answer, what).not.toContain('OK\n');
    }
    for (const path of detours) {
      const answer = await send(
        rig.ports.health,
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect(answer, path).not.toContain('OK\n');
    }
    expect(agent.log().filter(({ event }) => event === 'termination.requested')).toEqual([]);
    // The status port obeys the request that none of these contained.
    expect(await send(rig.ports.status, order)).toContain('OK\n');
    await agent.said('termination.requested');
  });
});

it('no path of a probe leads out of the probes', async () => {
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  for (const path of [
    '/app-health/../debug/config',
    '/app-health/%2e%2e/debug/config',
    '/app-health/..%2fdebug%2fconfig',
    '/app-lifecycle/a/../../debug/epochs',
  ])
    expect(
      (
        await send(
          rig.ports.status,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        )
      ).split('\r\n')[0],
    ).toMatch(/ 40[04] /);
});

it('metrics that are small until they are unpacked are refused, and the others are served', async () => {
  const bomb = gzipSync(Buffer.alloc(512 << 20, 'a_metric 1\n'));
  const [port = 0] = await freePorts(1);
  servers.push(
    createServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    ).listen(port, '127.0.0.1'),
  );
  const agent = rig.start([], {
    env: { PILOT_AGENT_METRICS_TARGETS: JSON.stringify([{ port, path: '/metrics' }]) },
  });
  await agent.said('epoch.live', 0);
  const memory = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${agent.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = memory();
  const { status, body } = await ask(rig.ports.status, '/stats/prometheus');
  expect(status).toBe(200);
  expect(body).toContain('envoy_server_live');
  expect(body).toMatch(/reason="too_(?:large|many)/);
  expect(memory() - before).toBeLessThan(60);
});

it('a folder with a name that a shell would act on is a folder', async () => {
  const touchedPath = join(rig.folder, 'taken');
  const folder = join(rig.folder, `run $(touch taken) ; touch taken\n'"\``);
  mkdirSync(folder, { mode: 0o700 });
  const agent = rig.start(['--configPath', folder], { cwd: rig.folder });
  await agent.said('epoch.live', 0);
  agent.kill('SIGKILL');
  await expect.poll(() => rig.envoys()).toEqual([]);
  expect(existsSync(touchedPath)).toBe(false);
  expect(readdirSync(rig.folder)).not.toContain('taken');
});
