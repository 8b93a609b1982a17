import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { firstValueFrom, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { listenOn, type PortEvent } from '../../../../src/shared/http/listen-on.ts';
import { freePorts } from '../../../support/free-ports.ts';

it('listenOn closes the connections of its server when it is unsubscribed', async () => {
  const [port = 0] = await freePorts(1);
  const event$ = new Subject<PortEvent>();
  const event = firstValueFrom(event$, { defaultValue: undefined });
  const server = createServer();
  const subscription = listenOn(server, port, '127.0.0.1').subscribe(event$);
  expect(await event).toEqual({ type: 'listening' });
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise((done) => socket.once('close', done));
  // Node closes idle connections with the server. This one waits for an answer.
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(server, 'request');
  subscription.unsubscribe();
  await closed;
});
