import {
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  Client,
  credentials,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryRequestSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import type { WorkloadPair } from './workload-authority.ts';

/** The credentials of a proxy on the secure port, and the nodes of its requests. */
export interface SecureProxy {
  readonly port: number;
  /** The root of the server, as PEM. */
  readonly root: string;
  readonly pair?: WorkloadPair | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nodes: readonly { readonly id: string; readonly metadata: JsonObject }[];
}

/** A stream for configuration, with a function that closes its connection. */
export interface DeltaStream {
  readonly call: ClientDuplexStream<object, DeltaDiscoveryResponse>;
  readonly close: () => void;
}

/** Opens a stream for configuration in the delta variant. A stream that fails does not throw. */
export function openDelta(
  address: string,
  secured: ChannelCredentials,
  headers: Readonly<Record<string, string>>,
  options: ChannelOptions,
): DeltaStream {
  const method = grpcDefinition(AggregatedDiscoveryService)['deltaAggregatedResources'];
  if (method === undefined) throw new Error('there is no such method');
  const client = new Client(address, secured, {
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  });
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.add(name, value);
  const open = client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    metadata,
  );
  const call = open as unknown as DeltaStream['call'];
  call.on('error', () => undefined);
  return {
    call,
    close() {
      call.cancel();
      client.close();
    },
  };
}

/** The outcome of a stream: `ANSWERED`, or the status at its end. */
export interface SecureOutcome {
  readonly status: string;
  readonly details: string;
}

/**
 * Requests clusters once as each node, over one stream. Resolves to `ANSWERED` when each request
 * has an answer, or to the status of the stream if it ends before.
 */
export async function askSecurely(proxy: SecureProxy): Promise<SecureOutcome> {
  const { pair } = proxy;
  const [key, chain] = [pair && Buffer.from(pair.key), pair && Buffer.from(pair.chain)];
  const { call, close } = openDelta(
    `127.0.0.1:${proxy.port}`,
    credentials.createSsl(Buffer.from(proxy.root), key ?? null, chain ?? null),
    proxy.headers ?? {},
    { 'grpc.ssl_target_name_override': 'istiod.test' },
  );
  const [first, ...later] = proxy.nodes.map((node) =>
    create(DeltaDiscoveryRequestSchema, { node, typeUrl: typeUrls.cluster }),
  );
  return new Promise<SecureOutcome>((done) => {
    call.on('status', ({ code, details }) => done({ status: status[code], details }));
    call.on('data', ({ nonce }: DeltaDiscoveryResponse) => {
      const next = later.shift();
      if (next === undefined) done({ status: 'ANSWERED', details: '' });
      else call.write(create(DeltaDiscoveryRequestSchema, { ...next, responseNonce: nonce }));
    });
    call.write(first ?? {});
  }).finally(close);
}
