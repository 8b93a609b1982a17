import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import {
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../src/shared/proto/envoy/service/secret/v3/sds_pb.ts';

/** A control plane in plain text that sends no resources. */
export interface Discovery {
  readonly port: number;
  /** Stops its answers. It still accepts streams. */
  hush(): void;
  /** Answers again, and first the requests that wait. */
  answer(): void;
  close(): void;
}

/** Starts one on 127.0.0.1. Its version is an empty text, which Envoy accepts. */
export async function startDiscovery(): Promise<Discovery> {
  const server = new Server();
  const requestedTypes = new Map<
    ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>,
    Set<string>
  >();
  let hushed = false;
  const { streamSecrets } = grpcDefinition(SecretDiscoveryService);
  if (streamSecrets === undefined) throw new Error('the service has no such method');
  // The same messages under another name.
  const aggregated = {
    ...streamSecrets,
    path: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  };
  function answer(): void {
    if (hushed) return;
    for (const [call, types] of requestedTypes) {
      for (const typeUrl of types)
        call.write(create(DiscoveryResponseSchema, { typeUrl, nonce: '1' }));
      types.clear();
    }
  }
  server.addService(
    { aggregated },
    {
      aggregated: (call: ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>) => {
        requestedTypes.set(call, new Set());
        call.on('data', ({ typeUrl, responseNonce }: DiscoveryRequest) => {
          if (responseNonce === '') requestedTypes.get(call)?.add(typeUrl);
          answer();
        });
        call.on('end', () => call.end());
        for (const gone of ['end', 'cancelled', 'error'])
          call.on(gone, () => requestedTypes.delete(call));
      },
    },
  );
  const port = await promisify(server.bindAsync.bind(server))(
    '127.0.0.1:0',
    ServerCredentials.createInsecure(),
  );
  return {
    port,
    hush: () => (hushed = true),
    answer: () => {
      hushed = false;
      answer();
    },
    close: () => server.forceShutdown(),
  };
}
