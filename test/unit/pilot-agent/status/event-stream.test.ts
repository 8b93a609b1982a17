import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NEVER, of, merge } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LiveEvent } from '../../../../src/pilot-agent/report/live-events.ts';
import { eventStream } from '../../../../src/pilot-agent/status/event-stream.ts';

const first: LiveEvent = { event: 'epochs', data: [] };
const handler = eventStream(merge(of(first), NEVER), 2);
const server = createServer((request, response) => {
  const answering = handler(request, response).subscribe();
  response.once('close', () => answering.unsubscribe());
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/debug/events`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('sends events to so many at a time, refuses one more, and lets another in when one has gone', async () => {
  const gone = new AbortController();
  const response = await fetch(url, { signal: gone.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const read = (await response.body?.getReader().read()) as
    { readonly value?: Uint8Array } | undefined;
  expect(new TextDecoder().decode(read?.value)).toBe('event: epochs\ndata: []\n\n');
  const other = new AbortController();
  await fetch(url, { signal: other.signal });
  const third = await fetch(url);
  expect([third.status, await third.text()]).toEqual([503, 'There are 2 event streams already\n']);
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(503);
  gone.abort();
  const last = new AbortController();
  await expect.poll(async () => (await fetch(url, { signal: last.signal })).status).toBe(200);
  last.abort();
  other.abort();
});

it('is for this machine alone, by its own name, and not for another site', async () => {
  const responseTo = (headers: Readonly<Record<string, string>>) => fetch(url, { headers });
  expect((await responseTo({ origin: 'https://evil.example' })).status).toBe(403);
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
});
