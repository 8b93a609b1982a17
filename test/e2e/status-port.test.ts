import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { strictExposition } from '../support/strict-exposition.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

const quick = { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1' };

describe('the status port', () => {
  let rig: Rig;
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  beforeEach(async () => {
    rig = await makeRig({ plain: true });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
    await rig.dispose();
  });

  async function started(
    flags: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<RunningAgent> {
    const agent = rig.start(flags, { env: { ...quick, ...env } });
    await agent.said('epoch.live');
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    return agent;
  }
  async function read(path: string): Promise<{ status: number; body: string }> {
    const [answer] = (await once(
      get({
        host: '127.0.0.1',
        port: rig.ports.status,
        path,
        agent: false,
        headers: { 'x-prometheus-scrape-timeout-seconds': '60' }, // a busy machine is not a slow source
      }),
      'response',
    )) as [IncomingMessage];
    let body = '';
    for await (const piece of answer.setEncoding('utf8')) body += String(piece);
    return { status: answer.statusCode ?? 0, body };
  }
  const post = (path: string) => rig.post(rig.ports.status, path);
  const memory = ({ pid }: RunningAgent, field: 'VmRSS' | 'VmHWM') =>
    Number(
      new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
    ) / 1024;

  it('says ready without a flap through 10 hot restarts, by hand and with an unchanged hash, asked every 5 ms', async () => {
    const agent = await started();
    const wrong: string[] = [];
    let [sampleCount, over] = [0, false];
    const sample = async () => {
      while (!over) {
        const { status, body } = await rig.ready();
        sampleCount += 1;
        if (status !== 200) wrong.push(`${status} ${body}`);
        await sleep(5);
      }
    };
    const sampling = sample();
    for (let epoch = 1; epoch <= 10; epoch++) {
      expect(await post('/restart')).toBe(200);
      await expect
        .poll(() => agent.log())
        .toContainEqual(expect.objectContaining({ event: 'epoch.live', epoch }));
    }
    over = true;
    await sampling;
    expect(wrong).toEqual([]);
    expect(sampleCount).toBeGreaterThan(200);
    expect(agent.log().filter(({ event }) => event === 'epoch.failed')).toEqual([]);
  });

  it('turns not ready while Envoy is stopped, and ready when it goes on; it stays live', async () => {
    const agent = await started();
    const { pid } = await agent.said('epoch.started');
    process.kill(Number(pid), 'SIGSTOP');
    const stopped = performance.now();
    try {
      await expect.poll(async () => (await rig.ready()).status).toBe(503);
      expect((await rig.ready()).body).toBe('Envoy does not answer\n');
      expect(performance.now() - stopped).toBeLessThan(6_000);
      expect((await read('/healthz/live')).status).toBe(200);
      expect((await read('/healthz/startup')).status).toBe(200);
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
  });

  it('drains by hand: not ready, serving on, and a later SIGTERM leaves at once', async () => {
    const agent = await started([], {
      MINIMUM_DRAIN_DURATION: '60s',
      TERMINATION_DRAIN_DURATION_SECONDS: '60',
    });
    expect(await post('/drain')).toBe(200);
    await expect.poll(async () => (await rig.ready()).body).toBe('draining\n');
    const [answer] = (await once(
      get({ host: '127.0.0.1', port: rig.ports.listen, agent: false }),
      'response',
    )) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close']);
    const begun = performance.now();
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  it('says on SIGTERM that it is not ready before any connection is refused', async () => {
    const agent = await started([], {
      MINIMUM_DRAIN_DURATION: '2s',
      TERMINATION_DRAIN_DURATION_SECONDS: '3',
    });
    const states: string[] = [];
    let over = false;
    const sample = async () => {
      while (!over) {
        const open = await new Promise<boolean>((done) => {
          const socket = connect(rig.ports.listen, '127.0.0.1', () => {
            socket.destroy();
            done(true);
          }).on('error', () => done(false));
        });
        const what = `${open ? 'open' : 'refused'} ${(await rig.ready()).status}`;
        await sleep(5);
        if (states.at(-1) !== what) states.push(what);
      }
    };
    const sampling = sample();
    agent.kill('SIGTERM');
    await agent.exit;
    over = true;
    await sampling;
    const [before = ''] = states.filter((what) => what !== 'open 200');
    expect(before).toBe('open 503');
    expect(states).not.toContain('refused 200');
  });

  it('changes the level of the agent’s log and of Envoy’s, at run time', async () => {
    const agent = await started();
    expect(await post('/logging?level=nonsense')).toBe(400);
    expect(await post('/logging?paths=http:debug')).toBe(200);
    expect(await post('/logging?level=error')).toBe(200);
    expect(await post('/restart')).toBe(200);
    await expect.poll(async () => (await read('/debug/epochs')).body).toContain('"epoch": 1');
    expect(agent.log().some(({ event }) => event === 'restart.requested')).toBe(false);
    expect(await post('/logging?level=info')).toBe(200);
    expect(await post('/restart')).toBe(200);
    await agent.said('restart.requested');
  });

  it('lets look inside: epochs, configuration and version, but at no profile', async () => {
    await started();
    expect(JSON.parse((await read('/debug/epochs')).body)).toMatchObject({
      epochs: [{ epoch: 0, state: 'live', why: 'first' }],
    });
    expect(JSON.parse((await read('/debug/status')).body)).toMatchObject({
      phase: 'running',
      ready: { ok: true },
      epochs: [{ epoch: 0 }],
    });
    expect(JSON.parse((await read('/debug/config')).body)).toMatchObject({
      statusPort: { value: rig.ports.status, source: '--statusPort' },
    });
    expect(JSON.parse((await read('/version')).body)).toMatchObject({
      node: expect.stringMatching(/^v\d/) as string,
    });
    for (const kind of ['profile', 'heap'])
      expect(await read(`/debug/pprof/${kind}`)).toEqual({
        status: 404,
        body: 'Profiles are off: --profiling=true turns them on\n',
      });
  });

  it('merges what a real Envoy says into what a strict reader accepts, in memory that does not grow with the answer', async () => {
    const row = `"} 1\n`;
    const big = createServer((_, response) => {
      let sent = 0;
      const write = (): void => {
        while (sent < 9 << 20) {
          const text = `big_${sent}{a="${'x'.repeat(2_000)}${row}`;
          sent += text.length;
          if (!response.write(text)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    }).listen(0, '127.0.0.1');
    servers.push(big);
    await once(big, 'listening');
    const { port } = big.address() as AddressInfo;
    const targets = JSON.stringify(
      Array.from({ length: 4 }, (_, number) => ({ port, path: `/${number}` })),
    );
    const agent = await started([], { PILOT_AGENT_METRICS_TARGETS: targets });
    const { body } = await read('/stats/prometheus');
    const families = strictExposition(body, 'text');
    expect(families.get('envoy_server_live')?.rows).toMatchObject([{ value: 1 }]);
    expect(
      families.get('istio_agent_scrape_source_up')?.rows.every(({ value }) => value === 1),
    ).toBe(true);
    await read('/stats/prometheus');
    const before = memory(agent, 'VmHWM');
    // Each scrape reads 36 MB from the sources.
    for (let round = 0; round < 3; round++) await read('/stats/prometheus');
    expect(memory(agent, 'VmHWM') - before).toBeLessThan(60);
  });

  it('answers probes beside slow heads, heads of 1 MB, 10,000 idle connections and garbage, in bounded memory', async () => {
    const agent = await started();
    const before = memory(agent, 'VmRSS');
    const open = (text?: string) =>
      new Promise<Socket>((done) => {
        const socket = connect(rig.ports.status, '127.0.0.1');
        sockets.add(socket);
        socket
          .on('error', () => done(socket))
          .on('close', () => sockets.delete(socket))
          .resume();
        socket.on('connect', () => {
          if (text !== undefined) socket.write(text);
          done(socket);
        });
      });
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, number) =>
          open(number % 2 === 0 ? 'GET /healthz/ready HTTP/1.1\r\nX-Slow: ' : undefined),
        ),
      );
      if (round % 10 === 0) expect((await rig.ready()).status).toBe(200);
    }
    await Promise.all(
      Array.from({ length: 20 }, () =>
        open(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(1 << 20)}`),
      ),
    );
    await Promise.all(
      Array.from({ length: 20 }, () => open('\0\x01garbage\r\n\r\n'.repeat(10_000))),
    );
    await Promise.all(
      Array.from({ length: 20 }, () =>
        open('GET /stats/prometheus HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200)),
      ),
    );
    for (let probe = 0; probe < 20; probe++) expect((await rig.ready()).status).toBe(200);
    expect(memory(agent, 'VmRSS') - before).toBeLessThan(100);
    await expect.poll(() => sockets.size).toBeLessThan(600);
  });

  it.each([
    {
      what: 'an annotation whose port is a name',
      env: () => ({ ISTIO_PROMETHEUS_ANNOTATIONS: '{"port":"http"}' }),
      why: /ISTIO_PROMETHEUS_ANNOTATIONS: port 'http' is not a port/,
    },
    {
      what: 'a target that is the status port itself',
      env: (port: number) => ({ PILOT_AGENT_METRICS_TARGETS: `[{"port":${port}}]` }),
      why: /PILOT_AGENT_METRICS_TARGETS: port \d+ is the status port/,
    },
    {
      what: 'probers that cannot be read',
      env: () => ({ ISTIO_KUBE_APP_PROBERS: '{' }),
      why: /ISTIO_KUBE_APP_PROBERS: failed to decode/,
    },
  ])('warns of $what, and serves', async ({ env, why }) => {
    const agent = rig.start([], { env: env(rig.ports.status) });
    expect((await agent.said('config.warning'))['warning']).toMatch(why);
    await agent.said('epoch.live', 0);
  });
});
