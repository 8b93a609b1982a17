import { create, toBinary } from '@bufbuild/protobuf';
import { type Any, anyPack, AnySchema, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { configTypeUrl, type ConfigKind } from '../../src/pilot-discovery/mcp/config-types.ts';
import { writeMessage } from '../../src/pilot-discovery/mcp/write-message.ts';
import { grpcDefinition } from '../../src/shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { ResourceSchema } from '../../src/shared/proto/istio/mcp/v1alpha1/resource_pb.ts';
import type { KubeDocument } from './fake-kube.ts';
import { freePorts } from './free-ports.ts';

type Call = ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>;

/**
 * A control plane with resources of Istio. At a change it sends all resources of the kind, as
 * istiod does.
 */
export interface FakeConfigServer {
  readonly address: string;
  /** All requests, in order. */
  readonly requests: readonly DiscoveryRequest[];
  /** Returns the number of streams so far. */
  readonly streams: () => number;
  put(object: KubeDocument): void;
  remove(object: KubeDocument): void;
  /** Sends these as all resources of a kind. */
  send(kind: ConfigKind, resources: readonly Any[]): void;
  /** Breaks all connections, and refuses new ones until `start`. Its objects stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Returns an object as a resource on the wire. */
export function resourceAny({ kind, metadata, spec }: KubeDocument): Any {
  const { typeUrl, value } = writeMessage(kind as ConfigKind, spec);
  const { namespace = '', name, labels = {}, annotations = {}, creationTimestamp } = metadata;
  const sent = {
    metadata: {
      ...{ name: `${namespace}/${name}`, version: '1', labels, annotations },
      ...(creationTimestamp !== undefined && {
        createTime: timestampFromDate(new Date(creationTimestamp)),
      }),
    },
    body: create(AnySchema, { typeUrl, value }),
  };
  return anyPack(ResourceSchema, create(ResourceSchema, sent));
}

/** Returns a resource with this name and this body. */
export const rawResource = (name: string, typeUrl: string, value: Uint8Array): Any =>
  create(AnySchema, {
    typeUrl: 'type.googleapis.com/istio.mcp.v1alpha1.Resource',
    value: toBinary(
      ResourceSchema,
      create(ResourceSchema, {
        metadata: { name },
        body: create(AnySchema, { typeUrl, value }),
      }),
    ),
  });

export async function startFakeConfigServer(): Promise<FakeConfigServer> {
  const [port = 0] = await freePorts(1);
  const objects = new Map<string, KubeDocument>();
  const calls = new Map<Call, Set<string>>();
  const requests: DiscoveryRequest[] = [];
  let streams = 0;
  let version = 0;
  let server: Server | undefined;
  const write = (call: Call, typeUrl: string, resources: readonly Any[]) => {
    const nonce = String((version += 1));
    const message = { typeUrl, nonce, versionInfo: nonce, resources: [...resources] };
    call.write(create(DiscoveryResponseSchema, message));
  };
  const ofType = (typeUrl: string) =>
    [...objects.values()]
      .filter(({ kind }) => configTypeUrl(kind as ConfigKind) === typeUrl)
      .map(resourceAny);
  const changed = (kind: string) => {
    const typeUrl = configTypeUrl(kind as ConfigKind);
    for (const [call, types] of calls)
      if (types.has(typeUrl)) write(call, typeUrl, ofType(typeUrl));
  };
  const keyOf = ({ kind, metadata }: KubeDocument) =>
    `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
  const fake: FakeConfigServer = {
    address: `127.0.0.1:${port}`,
    requests,
    streams: () => streams,
    put(object) {
      objects.set(keyOf(object), object);
      changed(object.kind);
    },
    remove(object) {
      objects.delete(keyOf(object));
      changed(object.kind);
    },
    send(kind, resources) {
      for (const call of calls.keys()) write(call, configTypeUrl(kind), resources);
    },
    stop() {
      calls.clear();
      server?.forceShutdown();
      server = undefined;
      return Promise.resolve();
    },
    async start() {
      const begun = new Server({ 'grpc.max_receive_message_length': -1 });
      begun.addService(grpcDefinition(AggregatedDiscoveryService), {
        streamAggregatedResources(call: Call) {
          streams += 1;
          const types = new Set<string>();
          calls.set(call, types);
          call.on('data', (request: DiscoveryRequest) => {
            requests.push(request);
            if (types.has(request.typeUrl)) return;
            types.add(request.typeUrl);
            write(call, request.typeUrl, ofType(request.typeUrl));
          });
          call.on('end', () => calls.delete(call));
          call.on('error', () => calls.delete(call));
        },
      });
      server = begun;
      await new Promise<void>((done, fail) =>
        begun.bindAsync(fake.address, ServerCredentials.createInsecure(), (error) =>
          error === null ? done() : fail(error),
        ),
      );
    },
  };
  await fake.start();
  return fake;
}
