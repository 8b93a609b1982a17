import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { connection, delta, firstRequest, framed, nodeOf, openStream, prefix } from './raw-grpc.ts';
import type { Row } from './rows.ts';

/** Opens connections, and acts on each. The returned function destroys them. */
async function onConnections(
  port: number,
  count: number,
  act: (session: ClientHttp2Session, index: number) => unknown,
) {
  const sessions: ClientHttp2Session[] = [];
  for (let index = 0; index < count; index += 1) {
    const session = connection(port);
    sessions.push(session);
    await act(session, index);
  }
  return () => sessions.forEach((session) => session.destroy());
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const whole = (more: object) =>
  framed(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, more)));
const change = (more: object) =>
  framed(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, more)));
const node = nodeOf('hostile');

/** Resolves when the stream was answered or has ended, or after 5 s. */
const answered = (stream: ClientHttp2Stream) =>
  Promise.race([once(stream, 'response'), once(stream, 'close'), sleep(5_000)]);

/** Returns an attack by one stream that sends these bytes. */
const sends =
  (bytes: () => Buffer, path?: string): Row['attack'] =>
  ({ ports }) =>
    onConnections(ports.xds, 1, async (session) => {
      const stream = openStream(session, path);
      stream.write(bytes());
      await answered(stream);
    });

const inherited = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

/** The attacks of one client on the xDS port. */
export const clients: readonly Row[] = [
  {
    name: 'types that every object has a member of',
    attack: ({ ports }) =>
      onConnections(ports.xds, 2, async (session, index) => {
        const stream = openStream(session, index === 0 ? undefined : delta);
        for (const typeUrl of inherited)
          stream.write(index === 0 ? whole({ node, typeUrl }) : change({ node, typeUrl }));
        await answered(stream);
      }),
  },
  {
    name: 'a NACK with a reason of 3 MB',
    attack: ({ ports }) =>
      onConnections(ports.xds, 1, async (session) => {
        const stream = openStream(session);
        stream.write(firstRequest('nack'));
        await answered(stream);
        stream.write(
          whole({
            typeUrl: typeUrls.cluster,
            responseNonce: 'x',
            errorDetail: { code: 3, message: 'a'.repeat(3 << 20) },
          }),
        );
      }),
  },
  {
    name: 'a request that says that it has 60 MB',
    attack: sends(() => Buffer.concat([prefix(60 << 20), Buffer.alloc(1 << 20)])),
  },
  {
    name: '500,000 names with versions',
    attack: sends(() => {
      // Field 5 has an entry with a key of two bytes.
      return framed(
        Buffer.concat([...times(500_000).map(() => Buffer.from([0x2a, 4, 0x0a, 2, 0x61, 0x62]))]),
      );
    }, delta),
    logged: ['discovery.stream_refused', 'it names more than 100000 resources'],
  },
  {
    name: 'an unsubscribe of 1,000,000 names',
    attack: sends(() => framed(Buffer.alloc(4_000_000, Buffer.from([0x22, 2, 0x61, 0x62]))), delta),
    logged: ['discovery.stream_refused', 'it names more than 100000 resources'],
  },
  {
    name: 'a node with 2 MB of metadata',
    attack: sends(() =>
      whole({ node: { ...node, metadata: { a: 'a'.repeat(2 << 20) } }, typeUrl: typeUrls.cluster }),
    ),
    logged: ['discovery.stream_refused', 'its node has'],
  },
  {
    name: 'endpoints by 99,000 names that nobody has',
    cost: 'seconds',
    attack: sends(() =>
      whole({
        node,
        typeUrl: typeUrls.endpoint,
        resourceNames: times(99_000).map((index) => `outbound|80||svc-${index}`),
      }),
    ),
  },
  {
    name: '10,000 types on one stream',
    attack: ({ ports }) =>
      onConnections(ports.xds, 1, async (session) => {
        const stream = openStream(session);
        for (const index of times(10_000))
          stream.write(whole({ node, typeUrl: `type.googleapis.com/a.Type${index}` }));
        await once(stream, 'close');
      }),
    logged: ['discovery.stream_refused', 'it asks for more than 32 types that are not served'],
  },
  {
    name: '1,000 streams that read nothing',
    attack: ({ ports }) =>
      onConnections(ports.xds, 10, (session) => {
        for (const index of times(100)) {
          const stream = openStream(session).pause();
          stream.write(firstRequest(`unread-${index}`));
        }
      }),
  },
  {
    name: '37,000 streams without a request on one connection',
    cost: 'seconds',
    attack: ({ ports }) =>
      onConnections(ports.xds, 1, (session) => times(37_000).forEach(() => openStream(session))),
  },
  {
    name: '2,000 streams without a request on 20 connections',
    cost: 'seconds',
    attack: ({ ports }) =>
      onConnections(ports.xds, 20, (session) => times(100).forEach(() => openStream(session))),
    logged: [
      'discovery.stream_refused',
      'it has asked for nothing, and 1000 streams have come since',
    ],
  },
  {
    name: '60 requests of 4 MB on 20 connections, none of them finished',
    cost: 'seconds',
    attack: ({ ports }) =>
      onConnections(ports.xds, 20, (session) =>
        times(3).forEach(() =>
          openStream(session).write(Buffer.concat([prefix(4 << 20), Buffer.alloc((4 << 20) - 1)])),
        ),
      ),
    logged: ['discovery.stream_refused', 'unfinished messages of'],
  },
  {
    name: '100 requests of 4 KB that are 4 MB when they are unpacked',
    attack: ({ ports }) =>
      onConnections(ports.xds, 1, (session) => {
        const bytes = framed(gzipSync(Buffer.alloc(4 << 20)));
        bytes[0] = 1;
        times(100).forEach(() =>
          openStream(session, undefined, { 'grpc-encoding': 'gzip' }).write(bytes),
        );
      }),
    logged: ['discovery.stream_refused', 'compressed messages are not accepted'],
  },
  {
    name: '1,000 streams with 60 KB of metadata each',
    attack: ({ ports }) =>
      onConnections(ports.xds, 10, (session) => {
        const headers = Object.fromEntries(
          times(10).map((index) => [`x-${index}`, 'a'.repeat(6_000)]),
        );
        times(100).forEach(() =>
          openStream(session, undefined, headers).write(firstRequest('metadata')),
        );
      }),
    logged: ['discovery.stream_refused', 'its metadata has'],
  },
  {
    name: '1,500 connections that say nothing',
    attack: async ({ ports }) => {
      const sockets: Socket[] = [];
      for (const index of times(1_500)) {
        sockets.push(connect(ports.xds, '127.0.0.1').on('error', () => undefined));
        if (index % 100 === 99) await sleep(20);
      }
      return () => sockets.forEach((socket) => socket.destroy());
    },
    logged: [
      'discovery.stream_refused',
      'nothing was asked for on the connection, and 1000 have come since',
    ],
  },
];
