import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { DiscoveryRequestSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { connection, framed, nodeOf, openStream } from './raw-grpc.ts';
import type { Row } from './rows.ts';

/** The number of proxies at a time. */
const atOnce = 20;

/**
 * Returns an attack by proxies that come, request all that they need, and go, one after the other.
 */
const come =
  (count: number, nodeAt: (index: number) => { readonly id: string }): Row['attack'] =>
  async ({ ports }) => {
    const session = connection(ports.xds);
    const visit = async (index: number) => {
      const stream = openStream(session);
      const asks = (typeUrl: string, resourceNames: string[] = []) =>
        stream.write(
          framed(
            toBinary(
              DiscoveryRequestSchema,
              create(DiscoveryRequestSchema, { node: nodeAt(index), typeUrl, resourceNames }),
            ),
          ),
        );
      asks(typeUrls.cluster);
      asks(typeUrls.listener);
      asks(typeUrls.route, ['80']);
      const closed = new Promise((done) => stream.once('close', done));
      await Promise.race([once(stream, 'data'), closed]);
      await sleep(5);
      stream.end();
      await closed;
    };
    const next = { index: 0 };
    const visitor = async () => {
      while (next.index < count) await visit((next.index += 1));
    };
    await Promise.all(Array.from({ length: atOnce }, visitor));
    return () => session.destroy();
  };

/** The attacks by many proxies of unknown namespaces and domains, which leave something behind. */
export const crowds: readonly Row[] = [
  {
    name: '600 namespaces that come and go',
    attack: come(600, (index) => nodeOf('a', `namespace-${index}`)),
  },
  {
    name: '3,000 domains that come and go',
    attack: come(3_000, (index) => nodeOf('a', 'default', `domain-${index}.svc.cluster.local`)),
  },
];
