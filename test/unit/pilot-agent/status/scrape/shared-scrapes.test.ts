import { once } from 'node:events';
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { of, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAnswer } from '../../../../../src/proxy/admin-client.ts';
import { metrics } from '../../../../../src/pilot-agent/status/scrape/scrape.ts';

/** A clock whose time the test sets: no time-out fires. */
let clock: VirtualTimeScheduler;
let servers: Server[];
beforeEach(() => {
  clock = new VirtualTimeScheduler();
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close().closeAllConnections();
});

async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Scrapes one Envoy, which answers all waiting requests on `say`. */
async function stage() {
  const waiting: ServerResponse[] = [];
  const envoy = await listen(createServer((_, response) => void waiting.push(response)));
  const source = {
    type: 'envoy',
    target: 'envoy',
    open: (headers: object) =>
      openAnswer({ host: '127.0.0.1', port: envoy, path: '/', headers: { ...headers } }),
  } as const;
  const handler = metrics([source], of([]), clock);
  let scrapes = 0;
  const port = await listen(
    createServer((request, response) => {
      scrapes += 1;
      const running = handler(request, response).subscribe({ error: expect.unreachable });
      response.once('close', () => running.unsubscribe());
    }),
  );
  const questionCount = () => waiting.length;
  return {
    questionCount,
    say: (text: string) => {
      for (const response of waiting)
        if (!response.writableEnded) response.setHeader('content-type', 'text/plain').end(text);
    },
    /** Begins a scrape, and waits until it arrives. */
    scrape: async (headers: Readonly<Record<string, string>> = {}) => {
      const before = scrapes;
      const request = httpRequest({ host: '127.0.0.1', port, headers, agent: false }).on(
        'error',
        () => undefined,
      );
      const text = new Promise<string>((done) =>
        request.on('response', (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () => {
            const body = Buffer.concat(pieces);
            done(
              (response.headers['content-encoding'] === 'gzip'
                ? gunzipSync(body)
                : body
              ).toString(),
            );
          });
        }),
      );
      request.end();
      await expect.poll(() => scrapes).toBeGreaterThan(before);
      return { text, goAway: () => request.destroy() };
    },
    /** Waits until Envoy has received this number of requests in all. */
    questions: (count: number) => expect.poll(questionCount).toBe(count),
  };
}

const requests = '# TYPE envoy_requests counter\nenvoy_requests 5\n';

it('scrapes that come within 100 ms are one question to Envoy and one answer, compressed for who wants it', async () => {
  const { scrape, say, questions, questionCount } = await stage();
  const first = await scrape();
  clock.frame = 100;
  const others = [await scrape(), await scrape({ 'accept-encoding': 'gzip' })];
  await questions(1);
  say(requests);
  const texts = await Promise.all([first, ...others].map(({ text }) => text));
  expect(texts[0]).toContain('\nenvoy_requests 5\n');
  expect(new Set(texts).size).toBe(1);
  expect(questionCount()).toBe(1);
});

it('one that comes later asks anew, whether the first has been answered or not', async () => {
  const { scrape, say, questions } = await stage();
  const first = await scrape();
  await questions(1);
  clock.frame = 101;
  const second = await scrape();
  await questions(2);
  say(requests);
  await Promise.all([first.text, second.text]);
  const third = await scrape();
  await questions(3);
  say(requests);
  expect(await third.text).toContain('istio_agent_scrapes_total 3');
});

it.each([
  ['format', { accept: 'application/openmetrics-text' }],
  ['time-out', { 'x-prometheus-scrape-timeout-seconds': '3' }],
])('one of another %s asks for itself', async (_what, headers) => {
  const { scrape, say, questions } = await stage();
  const scrapes = [await scrape(), await scrape(headers)];
  await questions(2);
  say(requests);
  for (const { text } of scrapes) expect(await text).toContain('envoy_requests');
});

it('an answer of more than 256 KiB is each one’s own, and whole', async () => {
  const { scrape, say, questions } = await stage();
  const text = `# TYPE rows gauge\n${Array.from({ length: 6_000 }, (_, row) => `rows{row="${row}",more="${'x'.repeat(40)}"} 1\n`).join('')}`;
  const scrapes = [await scrape(), await scrape()];
  await questions(1);
  say(text);
  await questions(2);
  say(text);
  for (const { text: answer } of scrapes)
    expect((await answer).split('\n').filter((line) => line.startsWith('rows{'))).toHaveLength(
      6_000,
    );
});

it('one whose leader goes away asks for itself', async () => {
  const { scrape, say, questions } = await stage();
  const leader = await scrape();
  await questions(1);
  const follower = await scrape();
  leader.goAway();
  await questions(2);
  say(requests);
  expect(await follower.text).toContain('\nenvoy_requests 5\n');
});
