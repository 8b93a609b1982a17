import { create, type JsonObject } from '@bufbuild/protobuf';
import {
  type ClientDuplexStream,
  Client,
  credentials,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryRequestSchema,
  type DiscoveryResponse,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';

/** A stream of a proxy on which a test sends the requests. */
export interface AdsClient<Response> {
  readonly call: ClientDuplexStream<object, Response>;
  readonly answers: Response[];
  readonly statuses: StatusObject[];
  close(): void;
}

export const wholeClient = (port: number) =>
  adsClient<DiscoveryResponse>(port, 'streamAggregatedResources');
export const deltaClient = (port: number) =>
  adsClient<DeltaDiscoveryResponse>(port, 'deltaAggregatedResources');

/** Opens a stream over a new connection to a control plane on this machine. */
function adsClient<Response>(
  port: number,
  name: 'streamAggregatedResources' | 'deltaAggregatedResources',
): AdsClient<Response> {
  const method = grpcDefinition(AggregatedDiscoveryService)[name];
  if (method === undefined) throw new Error('there is no such method');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const open = client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    new Metadata(),
  );
  const call = open as unknown as ClientDuplexStream<object, Response>;
  const [answers, statuses]: [Response[], StatusObject[]] = [[], []];
  call.on('data', (answer: Response) => answers.push(answer));
  call.on('error', () => undefined);
  call.on('status', (status: StatusObject) => statuses.push(status));
  return { call, answers, statuses, close: () => client.close() };
}

/** Starts a proxy with incremental xDS that subscribes to one whole type, and ACKs every answer. */
export function acceptingClient(
  port: number,
  id: string,
  typeUrl: string,
  metadata: JsonObject = {},
): AdsClient<DeltaDiscoveryResponse> {
  const client = deltaClient(port);
  client.call.on('data', ({ nonce }: DeltaDiscoveryResponse) => {
    client.call.write(create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: nonce }));
  });
  client.call.write(create(DeltaDiscoveryRequestSchema, { node: { id, metadata }, typeUrl }));
  return client;
}
