import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { clearedAfter } from '../support/cleared-after.ts';
import { eventually } from '../support/eventually.ts';
import { makeRig } from '../support/e2e/rig.ts';

/**
 * The limit for an answer, in ms: shorter than a wait for DNS, longer than a busy machine takes.
 */
const soon = 2_500;

it('nothing that the status port answers waits for DNS or the thread pool', () =>
  clearedAfter(async (clear) => {
    const rig = await makeRig();
    clear(() => rig.dispose());
    const fifo = join(rig.folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const application = createServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('application_up 1\n')),
    ).listen(0, '127.0.0.1');
    const tcp = createTcpServer((socket) => socket.end()).listen(0, '127.0.0.1');
    const health = createHttp2Server().listen(0, '127.0.0.1');
    health.on('stream', (stream) => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      );
      stream
        .on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
        .end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
    });
    clear(() => health.close());
    clear(() => application.close().closeAllConnections());
    clear(() => tcp.close());
    await Promise.all([application, tcp, health].map((server) => once(server, 'listening')));
    const portOf = (server: Pick<typeof tcp, 'address'>) => (server.address() as AddressInfo).port;
    const port = portOf(application);
    const agent = rig.start([], {
      env: {
        NODE_OPTIONS: `--require ${resolve('test/support/e2e/busy-pool.cjs')}`,
        BUSY_FIFO: fifo,
        ISTIO_KUBE_APP_PROBERS: JSON.stringify({
          '/app-health/a/readyz': { httpGet: { port }, timeoutSeconds: soon / 1_000 },
          '/app-health/a/startupz': {
            grpc: { port: portOf(health) },
            timeoutSeconds: soon / 1_000,
          },
          '/app-health/a/livez': {
            tcpSocket: { port: portOf(tcp) },
            timeoutSeconds: soon / 1_000,
          },
        }),
        ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ port: String(port) }),
      },
    });
    await agent.said('epoch.live', 0);
    await eventually(async () => (await rig.ready()).status === 200);
    agent.kill('SIGUSR2');
    // A FIFO opens for a writer only if it has a reader. The writer frees the threads, so SIGUSR2
    // fills them again.
    await eventually(() => openedForWriting(fifo));
    agent.kill('SIGUSR2');
    await eventually(async () => (await ask(rig.ports.status, '/healthz/live')).status === 200);
    for (const path of [
      '/app-health/a/readyz',
      '/app-health/a/livez',
      '/app-health/a/startupz',
      '/healthz/ready',
      '/healthz/live',
      '/debug/status',
      '/',
    ])
      expect([path, (await ask(rig.ports.status, path)).status]).toEqual([path, 200]);
    const scrape = await ask(rig.ports.status, '/stats/prometheus');
    expect(gunzipSync(scrape.body).toString()).toContain('application_up 1');
    closeSync(openSync(fifo, constants.O_RDWR)); // frees the agent's threads
  }));

it('the process waits for a file that does not open, once its Envoy has ended', () =>
  clearedAfter(async (clear) => {
    const rig = await makeRig();
    clear(() => rig.dispose());
    const fifo = join(rig.folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const env = {
      NODE_OPTIONS: `--require ${resolve('test/support/e2e/busy-pool.cjs')}`,
      BUSY_FIFO: fifo,
      BUSY_FILES: '1',
    };
    const agent = rig.start([], { env });
    await agent.said('epoch.live', 0);
    agent.kill('SIGUSR2');
    await eventually(() => openedForWriting(fifo));
    agent.kill('SIGUSR2');
    agent.kill('SIGTERM');
    expect(await agent.said('agent.ended')).toMatchObject({ code: 0 });
    expect(rig.envoys()).toEqual([]);
    expect(await Promise.race([agent.exit, pause(soon)])).toBe('it runs');
    closeSync(openSync(fifo, constants.O_RDWR));
    expect(await agent.exit).toEqual({ code: 0, signal: null });
  }));

const pause = (ms: number) => setTimeout(ms, 'it runs');

function openedForWriting(fifo: string): boolean {
  try {
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/** Requests a path of a port. Rejects if there is no answer in time. */
function ask(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return new Promise((done, fail) => {
    const clientRequest = get(
      { host: '127.0.0.1', port, path, agent: false, headers: { 'accept-encoding': 'gzip' } },
      (response) => {
        const pieces: Buffer[] = [];
        response
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('end', () => done({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }));
      },
    );
    clientRequest
      .setTimeout(soon, () => clientRequest.destroy(new Error(`${path}: no answer`)))
      .on('error', fail);
  });
}
