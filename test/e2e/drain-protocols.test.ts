import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
let upstream: Server;
beforeEach(async () => {
  // The upstream echoes what it receives: in the body of an answer, or over an upgraded connection.
  upstream = createServer((heard, answer) => heard.pipe(answer)).listen(0, '127.0.0.1');
  upstream.on('upgrade', (_, socket: Duplex) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    );
    socket.on('error', () => undefined).pipe(socket);
  });
  await once(upstream, 'listening');
  rig = await makeRig({ plain: true, upstreamPort: (upstream.address() as AddressInfo).port });
});
afterEach(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await rig.dispose();
});

const env = { MINIMUM_DRAIN_DURATION: '1s', TERMINATION_DRAIN_DURATION_SECONDS: '20' };

interface Manager {
  codec_type?: string;
  upgrade_configs?: unknown[];
}
interface Filter {
  name: string;
  typed_config: Manager;
}

/** Changes the one filter of the listener. */
function withFilter(change: (filter: Filter) => Filter): void {
  const config = JSON.parse(readFileSync(rig.config, 'utf8')) as {
    static_resources: { listeners: [{ filter_chains: [{ filters: [Filter] }] }] };
  };
  const [chain] = config.static_resources.listeners[0].filter_chains;
  chain.filters[0] = change(chain.filters[0]);
  writeFileSync(rig.config, JSON.stringify(config));
}

/**
 * An exchange that is under way in both directions. Envoy receives what is written, and the client
 * receives what the upstream sends.
 */
interface Conversation {
  readonly stream: Duplex;
  readonly close: () => void;
}

const conversations: Record<string, { prepare?: () => void; open: () => Promise<Conversation> }> = {
  'HTTP/1.1': {
    open: async () => {
      const clientRequest = request({
        host: '127.0.0.1',
        port: rig.ports.listen,
        path: '/slow',
        method: 'POST',
        agent: false,
      });
      clientRequest.write('>');
      const [answer] = (await once(clientRequest, 'response')) as [Duplex];
      await once(answer, 'data');
      return {
        stream: Object.assign(answer, { write: (text: string) => clientRequest.write(text) }),
        close: () => clientRequest.end(),
      };
    },
  },
  'HTTP/2': {
    prepare: () =>
      withFilter((filter) => ({
        ...filter,
        typed_config: { ...filter.typed_config, codec_type: 'AUTO' },
      })),
    open: async () => {
      const session = connectHttp2(`http://127.0.0.1:${rig.ports.listen}`).on(
        'error',
        () => undefined,
      );
      const stream = session.request({ ':method': 'POST', ':path': '/slow' });
      stream.write('>');
      await once(stream, 'data');
      return { stream, close: () => stream.end(() => session.close()) };
    },
  },
  WebSocket: {
    prepare: () =>
      withFilter((filter) => ({
        ...filter,
        typed_config: { ...filter.typed_config, upgrade_configs: [{ upgrade_type: 'websocket' }] },
      })),
    open: async () => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      };
      const clientRequest = request({
        host: '127.0.0.1',
        port: rig.ports.listen,
        path: '/slow',
        headers,
        agent: false,
      });
      clientRequest.end();
      const [, stream] = (await once(clientRequest, 'upgrade')) as [unknown, Duplex];
      return { stream, close: () => stream.destroy() };
    },
  },
  TCP: {
    prepare: () =>
      withFilter(() => {
        const type = 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy';
        const proxy = { '@type': type, stat_prefix: 'raw', cluster: 'upstream' };
        return { name: 'envoy.filters.network.tcp_proxy', typed_config: proxy as Manager };
      }),
    open: async () => {
      const stream = connect(rig.ports.listen, '127.0.0.1');
      stream.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n>\r\n');
      await once(stream, 'data');
      return {
        stream: Object.assign(stream, {
          write: (text: string) => stream.end(`${text.length}\r\n${text}\r\n0\r\n\r\n`),
        }),
        close: () => stream.destroy(),
      };
    },
  },
};

it.each(Object.entries(conversations))(
  'what is under way over %s goes on during the drain, which ends with it',
  async (_, { prepare, open }) => {
    prepare?.();
    const agent = rig.start([], { env });
    await agent.said('epoch.live', 0);
    const { stream, close } = await open();
    let heard = '';
    stream
      .on('data', (piece: Buffer) => (heard += piece.toString('latin1')))
      .on('error', () => undefined);

    agent.kill('SIGTERM');
    const beyondTheMinimum = performance.now() + 2_500;
    await expect
      .poll(
        async () =>
          (await rig.ready()).body === 'draining\n' && performance.now() > beyondTheMinimum,
      )
      .toBe(true);
    stream.write('still heard');
    await expect.poll(() => heard).toContain('still heard');
    close();
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(await agent.said('drain.ended')).toMatchObject({ active: 0 });
  },
);

it('an Envoy that does not answer is ended all the same, within the cap and a few seconds', async () => {
  const agent = rig.start([], { env: { ...env, TERMINATION_DRAIN_DURATION_SECONDS: '2' } });
  await agent.said('epoch.live', 0);
  for (const pid of rig.envoys()) process.kill(pid, 'SIGSTOP');
  const begun = performance.now();
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(performance.now() - begun).toBeLessThan(12_000);
  const ended = agent.log().find(({ event }) => event === 'drain.ended');
  expect(ended).toMatchObject({ level: 'warn' });
  expect(ended).not.toHaveProperty('active'); // the agent does not know what was in flight
  expect(rig.envoys()).toEqual([]);
});
