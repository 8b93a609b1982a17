import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, map } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, beforeEach, expect, expectTypeOf, it } from 'vitest';
import { filesAndUrl, urlSource } from '../../examples/extra-source.ts';
import type { ConfigSource } from '../../src/index.ts';

let server: Server;
let answer: { status: number; body: string };
let url: string;
let folder: string;
beforeEach(async () => {
  answer = { status: 200, body: 'one' };
  server = createServer((_, response) => response.writeHead(answer.status, { connection: 'close' }).end(answer.body));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-extra-source-'));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const reader =
  ({ reading$ }: ConfigSource) =>
  () =>
    lastValueFrom(reading$.pipe(map(({ hash }) => hash)), { defaultValue: 'none' });

it('the example is a source', () => {
  expectTypeOf(urlSource).returns.toEqualTypeOf<ConfigSource<never>>();
  expectTypeOf(filesAndUrl).returns.toEqualTypeOf<ConfigSource<never>>();
});

it('the example is ready at once, and looks again after each period', () => {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run(({ expectObservable }) => {
    const { changes$ } = urlSource('http://127.0.0.1/', 10, scheduler);
    expectObservable(changes$, '^ 25ms !').toBe('r 9ms c 9ms c', { r: { type: 'ready' }, c: { type: 'changed' } });
  });
});

it('the example tells documents apart, and takes an outage for no change', async () => {
  const read = reader(urlSource(url, 10_000));
  const one = await read();
  answer = { status: 503, body: 'out' };
  expect(await read()).toBe(one);
  answer = { status: 200, body: 'two' };
  expect(await read()).not.toBe(one);
});

it('the example composes: a change of the file or of the document is a change', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, 'a');
  const read = reader(filesAndUrl([file], url));
  const first = await read();
  expect(await read()).toBe(first);
  writeFileSync(file, 'b');
  const second = await read();
  expect(second).not.toBe(first);
  answer = { status: 200, body: 'two' };
  expect(await read()).not.toBe(second);
});
