import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstValueFrom, map } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  consul,
  type ConsulOptions,
  type ConsulWatch,
} from '../../../../src/pilot-agent/sources/consul.ts';

const key = (Key: string, Value: string | null) => ({ Key, Value });
const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64');

/** Tests answers that a real server sends rarely or never. */
describe('consul', () => {
  let server: Server | undefined;
  const requestedUrls: string[] = [];

  async function serve(
    body: unknown,
    headers: OutgoingHttpHeaders = {},
    status = 200,
  ): Promise<string> {
    server = createServer(({ url = '' }, response) => {
      requestedUrls.push(url);
      if (url.includes('index=')) return; // a blocking query waits
      response
        .writeHead(status, { 'x-consul-index': 5, ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const read = (watch: ConsulWatch, options: ConsulOptions) =>
    firstValueFrom(
      consul(watch, { firstWithin: 5_000, ...options }).reading$.pipe(
        map(({ config }) => config?.[0]),
      ),
      { defaultValue: undefined },
    );
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
    requestedUrls.length = 0;
  });

  it.each([
    { what: 'has no leader', status: 500, body: 'No cluster leader', says: 'it has no leader now' },
    {
      what: 'has just started',
      status: 500,
      body: 'rpc error making call: Not ready to serve consistent reads',
      says: 'its leader has not read all its data yet',
    },
    { what: 'fails', status: 500, body: 'rpc error', says: 'it answers 500: rpc error' },
    {
      what: 'answers for a leader that it has lost',
      headers: { 'x-consul-knownleader': 'false' },
      body: [],
      says: 'it has no leader now, so its answer may be old',
    },
    {
      what: 'says no index',
      headers: { 'x-consul-index': '' },
      body: '<html>',
      status: 404,
      says: 'it answers 404 without X-Consul-Index: is this Consul?',
    },
    {
      what: 'says an index that is none',
      headers: { 'x-consul-index': '9'.repeat(17) },
      body: [],
      says: 'it answers 200 without X-Consul-Index: is this Consul?',
    },
    { what: 'answers no JSON', body: '<html>token', says: 'its answer is not JSON' },
    {
      what: 'answers another JSON',
      body: { Key: 'a' },
      says: 'its answer is not a list of objects',
    },
    {
      what: 'answers what is not an object',
      body: [1],
      says: 'its answer is not a list of objects',
    },
    {
      what: 'answers what is not a key',
      body: [{ Key: 1, Value: null }],
      says: 'its answer is not a list of keys',
    },
    {
      what: 'answers what is not a value',
      body: [{ Key: 'mesh/a', Value: 1 }],
      says: 'its answer is not a list of keys',
    },
    {
      what: 'has a value that is not a text',
      body: [key('mesh/a', base64(Buffer.from([0xff])))],
      says: 'the value of mesh/a is not text in UTF-8',
    },
    {
      what: 'answers too much',
      body: ' '.repeat((4 << 20) + 1),
      says: 'the answer is larger than 4194304 bytes',
    },
  ])('says so of a server that $what', async ({ body, says, headers = {}, status = 200 }) => {
    const address = await serve(body, headers, status);
    expect(await read({ prefix: 'mesh/' }, { address })).toMatchObject({
      content: undefined,
      trouble: `${address}/v1/kv/mesh/: ${says}`,
    });
  });

  it('says so of instances that are none', async () => {
    const address = await serve([{ Node: { Node: 'n' } }]);
    expect(await read({ service: 'web' }, { address })).toMatchObject({
      trouble: `${address}/v1/health/service/web: its answer is not a list of instances`,
    });
  });

  it('takes the address of the node for an instance without one', async () => {
    const address = await serve([
      { Node: { Node: 'n', Address: '192.0.2.1' }, Service: { ID: 'a', Address: '', Port: 1 } },
    ]);
    expect(await read({ service: 'web' }, { address })).toMatchObject({
      content: { 'n/a': { address: '192.0.2.1', port: 1, tags: [], meta: {} } },
    });
  });

  it('shows the names of members as they are, whatever they are', async () => {
    const address = await serve([key('__proto__', base64('a')), key('toString', null)]);
    const reading = await read({ prefix: '' }, { address });
    expect(Object.entries(reading?.content as object)).toEqual([
      ['__proto__', 'a'],
      ['toString', ''],
    ]);
  });

  it('leaves out keys that only begin with the same letters', async () => {
    const address = await serve([
      key('mesh/a', base64('1')),
      key('meshes', base64('2')),
      key('mesh-b/c', base64('3')),
    ]);
    const reading = await read({ prefix: 'mesh' }, { address });
    expect(reading?.content).toEqual({ a: '1' });
  });

  it('asks for names as they are', async () => {
    const address = await serve([]);
    await read({ prefix: 'a b/ü?x=y/' }, { address });
    await read({ service: 'web/../x' }, { address });
    expect(requestedUrls.filter((url) => !url.includes('index='))).toEqual([
      '/v1/kv/a%20b/%C3%BC%3Fx%3Dy/?recurse=true&consistent',
      '/v1/health/service/web%2F..%2Fx?passing=true&consistent',
    ]);
  });

  it('takes an address without a scheme', async () => {
    const address = await serve([key('a', base64('text'))]);
    expect(await read({ prefix: 'a' }, { address: address.replace('http://', '') })).toMatchObject({
      source: 'consul/kv/a',
      content: 'text',
    });
  });
});
