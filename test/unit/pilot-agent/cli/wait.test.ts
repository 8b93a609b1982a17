import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fatal } from '../../../../src/shared/program/exit.ts';
import { wait, type WaitCommandOptions } from '../../../../src/pilot-agent/cli/wait.ts';

describe('wait', () => {
  let server: Server;
  let url: string;
  let answers: (readonly [status: number, body: string])[];
  let requestCount: number;

  const run = (options: Partial<WaitCommandOptions> = {}) =>
    wait({
      timeoutSeconds: '60',
      requestTimeoutMillis: '5000',
      periodMillis: '1',
      url,
      ...options,
    });

  beforeEach(async () => {
    [answers, requestCount] = [[], 0];
    server = createServer((_, response) => {
      requestCount += 1;
      const [status, body] = answers.shift() ?? [200, ''];
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://localhost:${(server.address() as AddressInfo).port}/healthz/ready`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('is over when the URL answers with 200', async () => {
    await run();
    expect(requestCount).toBe(1);
  });

  it('asks until it does', async () => {
    answers = [
      [503, ''],
      [404, ''],
      [302, ''],
      [204, ''],
    ];
    await run();
    expect(requestCount).toBe(5);
  });

  it('makes one attempt with a time-out of 0 (the Go agent: none)', async () => {
    await run({ timeoutSeconds: '0' });
    expect(requestCount).toBe(1);
  });

  it('ends with 69 when the time is up, and says what was wrong last', async () => {
    answers = [[503, 'Envoy is starting\n']];
    const why = `${url} is not ready within 0 s: it answers 503: Envoy is starting\n`;
    await expect(run({ timeoutSeconds: '0' })).rejects.toEqual(new Fatal(why, 69));
    answers = [[500, '']];
    await expect(run({ timeoutSeconds: '0' })).rejects.toThrow(/: it answers 500$/);
  });

  it.each(['127.0.0.1', 'localhost'])(
    'names what hinders it if there is nobody: %s',
    async (host) => {
      await expect(run({ timeoutSeconds: '0', url: `http://${host}:1/` })).rejects.toThrow(
        /^http:\/\/.*:1\/ is not ready within 0 s: .*ECONNREFUSED/,
      );
    },
  );

  it.each<{ options: Partial<WaitCommandOptions>; why: string }>([
    {
      options: { timeoutSeconds: '-1' },
      why: "--timeoutSeconds: '-1' is not a whole number from 0 on",
    },
    {
      options: { timeoutSeconds: '1s' },
      why: "--timeoutSeconds: '1s' is not a whole number from 0 on",
    },
    {
      options: { requestTimeoutMillis: '0' },
      why: "--requestTimeoutMillis: '0' is not a whole number from 1 on",
    },
    { options: { periodMillis: '' }, why: "--periodMillis: '' is not a whole number from 0 on" },
    {
      options: { url: 'localhost:15021' },
      why: "--url: 'localhost:15021' is not an http or https URL",
    },
    {
      options: { url: 'file:///etc/passwd' },
      why: "--url: 'file:///etc/passwd' is not an http or https URL",
    },
    { options: { url: '' }, why: "--url: '' is not an http or https URL" },
  ])('refuses $options with 64', async ({ options, why }) => {
    await expect(run(options)).rejects.toEqual(new Fatal(why, 64));
    expect(requestCount).toBe(0);
  });
});
