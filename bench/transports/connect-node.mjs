// Not in TypeScript: a checkout has its packages only after the benchmark has installed them.
import { createServer } from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createGrpcTransport } from '@connectrpc/connect-node';
import { AggregatedDiscoveryService } from '../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { lengthDelimited, version } from './transport.ts';

/** @type {import('./transport.ts').Transport} */
export const transport = {
  serve: (port, { bytes, times }) => {
    // connect encodes each message, so a message that is encoded already is one unknown field.
    const message = create(DiscoveryResponseSchema);
    message.$unknown = [{ no: 1_000, wireType: 2, data: lengthDelimited(bytes) }];
    const handler = connectNodeAdapter({
      routes: (router) =>
        router.service(AggregatedDiscoveryService, {
          async *streamAggregatedResources(requests) {
            for await (const { versionInfo } of requests)
              for (let count = 0; versionInfo !== '' && count < times; count++) yield message;
          },
        }),
    });
    createServer(handler).listen(port, '127.0.0.1');
  },
  connect: (port) => {
    const client = createClient(
      AggregatedDiscoveryService,
      createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }),
    );
    return {
      open: async () => {
        await client.streamAggregatedResources(requests())[Symbol.asyncIterator]().next();
      },
    };
  },
};

async function* requests() {
  yield create(DiscoveryRequestSchema, { versionInfo: version });
  await new Promise(() => undefined);
}
