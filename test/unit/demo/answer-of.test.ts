import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf } from '../../../demo/answer-of.ts';

describe('an answer in the demo of a mesh', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  const answers: readonly (readonly [what: string, respond: RequestListener, answer: string])[] = [
    ['a text', (_, response) => response.end('v1\n'), 'v1'],
    ['a status', (_, response) => response.writeHead(503).end('no'), '503'],
    ['nothing', () => undefined, 'no answer within 0.2 s'],
    [
      'a part of a text',
      (_, response) => {
        response.setHeader('content-length', 100).write('v');
        setTimeout(() => response.destroy(), 20);
      },
      'aborted',
    ],
  ];
  it.each(answers)('is told if it is %s', async (_, respond, answer) => {
    server = createServer(respond).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await lastValueFrom(answerOf(port, 200).pipe(toArray()), { defaultValue: [] })).toEqual([
      answer,
    ]);
  });
});
