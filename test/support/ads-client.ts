import { type ClientDuplexStream, Client, credentials, Metadata } from '@grpc/grpc-js';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls, type XdsType, xdsTypes } from '../../src/pilot-discovery/push/view.ts';
import { published } from './envoy-api.ts';

/** A resource as the published API reads it. */
export type Published = Readonly<Record<string, unknown>>;

/** The resources that a proxy receives, by type. */
export type Told = Readonly<Record<XdsType, readonly Published[]>>;

export interface AskingNode {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly locality?: Uint8Array;
}

/**
 * The longest wait for all answers, in ms. A control plane does not answer a request for routes
 * that were removed after it sent their listeners.
 */
const patience = 15_000;

/**
 * Requests the resources of a proxy from a control plane of this machine, once, in Envoy's order.
 * Rejects if an answer is missing after 15 s.
 */
export function askAll(port: number, node: AskingNode): Promise<Told> {
  const method = grpcDefinition(AggregatedDiscoveryService)['streamAggregatedResources'];
  if (method === undefined) throw new Error('there is no such method');
  const limits = { 'grpc.max_receive_message_length': -1, 'grpc.use_local_subchannel_pool': 1 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), limits);
  const open = client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    new Metadata(),
  );
  const call = open as unknown as ClientDuplexStream<DiscoveryRequest, DiscoveryResponse>;
  const answers: Partial<Record<XdsType, readonly Published[]>> = {};
  const names: Partial<Record<XdsType, readonly string[]>> = {};
  const ask = (type: XdsType, resourceNames: readonly string[]): void => {
    names[type] = resourceNames;
    if (resourceNames.length === 0 && (type === 'endpoint' || type === 'route')) answers[type] = [];
    else
      call.write(
        create(DiscoveryRequestSchema, {
          node: { ...node, cluster: 'test' },
          typeUrl: typeUrls[type],
          resourceNames: [...resourceNames],
        }),
      );
  };
  let limit: NodeJS.Timeout | undefined;
  return new Promise<Told>((done, fail) => {
    limit = setTimeout(() => fail(new Error('an answer is missing')), patience);
    call.on('error', fail);
    call.on('data', ({ typeUrl, resources, versionInfo, nonce }: DiscoveryResponse) => {
      const type = xdsTypes.find((candidate) => typeUrls[candidate] === typeUrl) ?? 'cluster';
      const resourceNames = [...(names[type] ?? [])];
      call.write(
        create(DiscoveryRequestSchema, {
          ...{ typeUrl, versionInfo, responseNonce: nonce, resourceNames },
        }),
      );
      if (answers[type] !== undefined) return;
      const read = resources.map((any) => published(any.typeUrl, any.value) as Published);
      answers[type] = read;
      if (type === 'cluster') {
        ask(
          'endpoint',
          read
            .filter((cluster) => cluster['type'] === 'EDS')
            .map((cluster) => String(cluster['name'])),
        );
        ask('listener', []);
      }
      if (type === 'listener') ask('route', routeNames(read));
      if (xdsTypes.every((xdsType) => answers[xdsType] !== undefined)) done(answers as Told);
    });
    ask('cluster', []);
  }).finally(() => {
    clearTimeout(limit);
    call.cancel();
    client.close();
  });
}

/** Returns the names of the routes that listeners request over RDS. */
export function routeNames(listeners: readonly Published[]): readonly string[] {
  return [
    ...new Set(
      [...JSON.stringify(listeners).matchAll(/"route_config_name":"([^"]*)"/g)].map(
        ([, name = '']) => name,
      ),
    ),
  ];
}
