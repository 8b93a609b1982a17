import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeRig } from '../support/e2e/rig.ts';

/**
 * The most memory, in MiB, that the metrics of an application may cost the agent. The agent keeps
 * the families and rows of a source until its answer ends.
 */
const mostMemory = 75;
const attackMs = 10_000;

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Scrapes the agent. Resolves to the status, and to the beginning of the answer. */
async function scrape(
  port: number,
  seconds: number,
): Promise<{ readonly status: number; readonly begin: string }> {
  const headers = { 'x-prometheus-scrape-timeout-seconds': String(seconds) };
  const [answer] = (await once(
    get({ host: '127.0.0.1', port, path: '/stats/prometheus', agent: false, headers }),
    'response',
  )) as [IncomingMessage];
  let begin = '';
  for await (const piece of answer.setEncoding('utf8'))
    if (begin.length < 64 << 10) begin += String(piece);
  return { status: answer.statusCode ?? 0, begin };
}

it('an application with 10 MiB of names and 16 scrapes at once bring down neither the agent nor a healthy Envoy', async () => {
  const names = Buffer.from(
    Array.from({ length: 1_200_000 }, (_, name) => `a${name.toString(36)} 1\n`).join(''),
  );
  const application = createServer((_, response) => void response.end(names)).listen(
    0,
    '127.0.0.1',
  );
  await once(application, 'listening');
  const { port } = application.address() as AddressInfo;
  const rig = await makeRig({ plain: true });
  try {
    const agent = rig.start([], {
      env: { PILOT_AGENT_METRICS_TARGETS: JSON.stringify([{ port, path: '/' }]) },
    });
    await agent.said('epoch.live');
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    const idle = rssOf(agent.pid);
    const end = performance.now() + attackMs;
    const answers: Awaited<ReturnType<typeof scrape>>[] = [];
    const attack = async (seconds: number) => {
      while (performance.now() < end) answers.push(await scrape(rig.ports.status, seconds));
    };
    const unready: string[] = [];
    const sizes: number[] = [];
    const watch = async () => {
      while (performance.now() < end) {
        const { status, body } = await rig.ready();
        if (status !== 200) unready.push(`${status} ${body}`);
        sizes.push(rssOf(agent.pid));
        await sleep(50);
      }
    };
    await Promise.all([watch(), ...Array.from({ length: 16 }, (_, index) => attack(10 + index))]);
    expect(unready).toEqual([]);
    expect(Math.max(...sizes) - idle).toBeLessThan(mostMemory);
    const served = answers.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThan(16);
    expect(served.filter(({ begin }) => !begin.includes('envoy_server_live'))).toEqual([]);
    expect((await agent.said('metrics.refused'))['source']).toBe(`application ${port}/`);
    const bad = agent
      .log()
      .filter(({ event }) =>
        ['epoch.unresponsive', 'epoch.hung', 'part.failed', 'status.request_failed'].includes(
          event,
        ),
      );
    expect(bad).toEqual([]);
  } finally {
    await rig.dispose();
    application.close().closeAllConnections();
  }
});
